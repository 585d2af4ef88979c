/** In characters. */
const maxLength = 500;

/** Returns text for one line of the service's log: bounded, and with control characters escaped, such as `\n`. */
export function oneLine(text: string): string {
  const start = text.trim().slice(0, maxLength + 1);
  const escaped = start.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) =>
    character === "\n" ? "\\n" : `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
  return escaped.length > maxLength ? `${escaped.slice(0, maxLength)}…` : escaped;
}

/** In names, of a list. */
export const maxNames = 50;

/** Returns the names for people, not all if there are many. */
export function namesOf(found: readonly string[]): string {
  const more = found.length > maxNames ? ` and ${found.length - maxNames} more` : "";
  return `${found.slice(0, maxNames).join(", ")}${more}`;
}
