/*
 * The distribution of job lengths: log-normal with a median of 4 minutes and a 95th percentile of 25 minutes, truncated at
 * 2 hours.
 */
export const medianSeconds = 240;
export const percentile95Seconds = 1500;
export const maxSeconds = 7200;
const sigma = Math.log(percentile95Seconds / medianSeconds) / 1.6448536269514722;

/** Returns the share of jobs that are at most this long. */
export function shareEnded(seconds: number): number {
  return Math.min(1, untruncated(seconds) / untruncated(maxSeconds));
}

/** Returns `count` lengths in seconds at evenly spaced quantiles, in ascending order. */
export function jobLengths(count: number): number[] {
  return Array.from({ length: count }, (_, index) => lengthAt((index + 0.5) / count));
}

/**
 * Returns the lower bound of mean lateness × mean polls for any schedule, in seconds: ½ (∫ √(f·S) dt)², where `f` is the
 * density of the lengths and `S` the share of jobs still running. It follows from the Cauchy–Schwarz inequality if polls
 * are so close together that the end of a job is uniformly distributed between two of them.
 */
export function minProduct(stepSeconds = 0.1): number {
  let integral = 0;
  for (let start = 0; start < maxSeconds; start += stepSeconds) {
    const ended = shareEnded(start + stepSeconds) - shareEnded(start);
    const running = 1 - shareEnded(start + stepSeconds / 2);
    integral += Math.sqrt((ended / stepSeconds) * running) * stepSeconds;
  }
  return integral ** 2 / 2;
}

function untruncated(seconds: number): number {
  return seconds <= 0 ? 0 : normalDistribution(Math.log(seconds / medianSeconds) / sigma);
}

/** Returns the inverse of `shareEnded`, by bisection. */
function lengthAt(share: number): number {
  let [low, high] = [0, maxSeconds];
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (shareEnded(middle) < share) low = middle;
    else high = middle;
  }
  return high;
}

/** Abramowitz and Stegun 7.1.26, accurate to 1.5e-7. */
function normalDistribution(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const half = (1 - polynomial * Math.exp(-x * x)) / 2;
  return z < 0 ? 0.5 - half : 0.5 + half;
}
