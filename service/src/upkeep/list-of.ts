/** Keeps a line of the log readable when a round affects thousands of jobs. */
const maxNames = 20;

/** Returns names as text, the first 20 of them if there are more: "a, b and 980 more". */
export function listOf(names: readonly string[]): string {
  const rest = names.length - maxNames;
  return names.slice(0, maxNames).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
