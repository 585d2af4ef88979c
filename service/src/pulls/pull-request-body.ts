import type { Change } from "./pull-requests.ts";

/** In characters, of each text. A fence may be as long as its text, and GitHub allows 65,536 for the body of a pull request. */
const maxTextLength = 10_000;

/** Returns the body of a pull request on GitHub: what the agent said, and what it was told. */
export function pullRequestBody({ prompt, answer, jobId }: Pick<Change, "prompt" | "answer" | "jobId">): string {
  const said = answer === null ? [] : ["The agent's last message:", codeBlock(answer)];
  return [...said, "Prompt of the agent:", codeBlock(prompt), `Job \`${jobId}\`.`].join("\n\n");
}

/**
 * Returns untrusted text as a code block, in which GitHub renders no Markdown, notifies nobody who is mentioned, links nothing
 * and closes no issue. Characters that reorder or hide text are removed.
 */
function codeBlock(untrusted: string): string {
  const all = untrusted.replace(/\r\n?/g, "\n").replace(/[^\P{C}\n\t]/gu, "");
  const text = all.length > maxTextLength ? `${all.slice(0, maxTextLength)}\n[truncated]` : all;
  const longest = (text.match(/`+/g) ?? []).reduce((max, { length }) => Math.max(max, length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
