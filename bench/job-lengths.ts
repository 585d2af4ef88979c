/**
 * How long jobs run, in seconds: log-normal with a median of 4 minutes and a 95th percentile of 25, of which only what
 * ends within 2 hours is taken.
 */
export const medianSeconds = 240;
export const percentile95Seconds = 1500;
export const longestSeconds = 7200;
const sigma = Math.log(percentile95Seconds / medianSeconds) / 1.6448536269514722;

/** The share of jobs that have ended after so many seconds. */
export function shareEnded(seconds: number): number {
  return Math.min(1, uncut(seconds) / uncut(longestSeconds));
}

/** So many lengths that lie evenly in the distribution, in order. */
export function jobLengths(count: number): number[] {
  return Array.from({ length: count }, (_, index) => lengthAt((index + 0.5) / count));
}

/**
 * What no schedule can get below in mean lateness × mean polls: ½ (∫ √(f·S) dt)², with `f` the density of lengths and `S`
 * the share of jobs that still run. It follows from the Cauchy–Schwarz inequality for polls so close that a job ends
 * evenly between two of them.
 */
export function leastProduct(stepSeconds = 0.1): number {
  let integral = 0;
  for (let start = 0; start < longestSeconds; start += stepSeconds) {
    const ended = shareEnded(start + stepSeconds) - shareEnded(start);
    const running = 1 - shareEnded(start + stepSeconds / 2);
    integral += Math.sqrt((ended / stepSeconds) * running) * stepSeconds;
  }
  return integral ** 2 / 2;
}

function uncut(seconds: number): number {
  return seconds <= 0 ? 0 : normalDistribution(Math.log(seconds / medianSeconds) / sigma);
}

/** The inverse of `shareEnded`, by bisection. */
function lengthAt(share: number): number {
  let [low, high] = [0, longestSeconds];
  for (let step = 0; step < 50; step++) {
    const middle = (low + high) / 2;
    if (shareEnded(middle) < share) low = middle;
    else high = middle;
  }
  return high;
}

/** Abramowitz and Stegun 7.1.26, which is exact to 1.5e-7. */
function normalDistribution(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  const t = 1 / (1 + 0.3275911 * x);
  const polynomial = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const half = (1 - polynomial * Math.exp(-x * x)) / 2;
  return z < 0 ? 0.5 - half : 0.5 + half;
}
