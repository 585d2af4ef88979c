/** Longer runs of the fence's character are shortened, so that the fence stays short. */
const maxTildes = 60;

/** Returns data for a prompt between two lines of tildes that nothing in it can close, after what is said of it. */
export function fenced(said: string, data: string): string {
  const text = data.replace(new RegExp(`~{${maxTildes},}`, "g"), "~".repeat(maxTildes));
  const longest = text.matchAll(/~+/g).reduce((max, [run]) => Math.max(max, run.length), 2);
  const fence = "~".repeat(longest + 1);
  return [`The text between the two lines of tildes ${said}`, "", fence, text, fence].join("\n");
}
