import { inertText } from "../../../src/runner-kit/inert-text.ts";

/** In characters: the usual limit of a commit's subject. */
const maxLength = 72;

/**
 * Returns the first line of a prompt as inert text, shortened to the subject line of a commit.
 *
 * @param prefix - what it begins with. Conventional Commits has a small letter after a colon. Default: nothing
 */
export function commitTitle(prompt: string, prefix = ""): string {
  const line = prompt
    .split(/[\r\n\u2028\u2029]/)
    .map((one) =>
      one
        .replace(/(?![\u200c\u200d]|(?<=\u{1f3f4}[\u{e0030}-\u{e007a}]*)[\u{e0030}-\u{e007f}])[\p{Cc}\p{Cf}]/gu, "")
        .trim(),
    )
    .find((one) => one !== "");
  const own = inertText(line ?? "Change the documentation");
  const isThere = own.toLowerCase().startsWith(prefix.toLowerCase());
  const characters = [...(isThere ? own : `${prefix} ${prefix.endsWith(":") ? withSmallLetter(own) : own}`)];
  if (characters.length <= maxLength) return characters.join("");
  const cut = characters.slice(0, maxLength - 1).join("");
  return `${cut.replace(/\s+\S*$/, "")}…`;
}

/** Leaves words such as `API` and `GitHub` as they are. */
const withSmallLetter = (text: string): string =>
  text.replace(/^\p{Lu}(?=\p{Ll}+(?!\p{L}))/u, (letter) => letter.toLowerCase());
