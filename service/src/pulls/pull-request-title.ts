import { commitTitle } from "./commit-title.ts";

/** In characters. Shorter lines, such as "Done.", do not tell one pull request from another. */
const minLength = 10;

/**
 * Returns the title of a pull request as inert text: the first line of the agent's last message, unless that says too little, otherwise
 * the prompt's first line with the day, because the same prompt may be sent every night.
 *
 * @param at - milliseconds since 1970
 * @param prefix - what it begins with. Default: nothing
 */
export function pullRequestTitle(prompt: string, answer: string | null, at: number, prefix = ""): string {
  const line = (answer ?? "")
    .split(/[\r\n\u2028\u2029]/)
    // Headings, lists and quotes of Markdown, and bold text.
    .map((one) =>
      one
        .replace(/^[\s#>*-]+/, "")
        .replaceAll("**", "")
        .trim(),
    )
    .find((one) => one !== "");
  if (line !== undefined && line.length >= minLength && !line.endsWith(":")) return commitTitle(line, prefix);
  return `${commitTitle(prompt, prefix)} (${new Date(at).toISOString().slice(0, 10)})`;
}
