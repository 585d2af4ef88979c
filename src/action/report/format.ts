/** A duration in milliseconds as people say it: `4 min 12 s`. */
export function duration(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return withRest(`${minutes} min`, seconds % 60, "s");
  return withRest(`${Math.floor(minutes / 60)} h`, minutes % 60, "min");
}

function withRest(text: string, rest: number, unit: string): string {
  return rest === 0 ? text : `${text} ${rest} ${unit}`;
}

/** A short delay in milliseconds, to the tenth of a second below a minute: `7.4 s`. */
export function delay(ms: number): string {
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : duration(ms);
}

/** Time since the start, in a fixed form that lines up: `04:12`, `1:04:12`. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return hours > 0 ? `${hours}:${rest}` : rest;
}

/** The size of a text: `1,234 characters`. */
export function size(text: string): string {
  const characters = [...text].length;
  // `toLocaleString` would load all of `Intl`, which takes longer than anything else that a short step does.
  return `${String(characters).replace(/\B(?=(\d{3})+$)/g, ",")} ${characters === 1 ? "character" : "characters"}`;
}
