const longestTitle = 72;

/** The first line of a prompt, as the title of a commit. */
export function titleOf(prompt: string): string {
  const line = prompt
    .split(/[\r\n\u2028\u2029]/)
    .map((one) => one.replace(/[\p{Cc}\p{Cf}]/gu, "").trim())
    .find((one) => one !== "");
  const characters = [...(line ?? "Change the documentation")];
  if (characters.length <= longestTitle) return characters.join("");
  const cut = characters.slice(0, longestTitle - 1).join("");
  return `${cut.replace(/\s+\S*$/, "")}…`;
}
