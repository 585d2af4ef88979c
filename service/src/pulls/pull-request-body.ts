import type { Change } from "./pull-requests.ts";

/** In characters, of each text. A fence may be as long as its text, and GitHub allows 65,536 for the body of a pull request. */
const maxTextLength = 10_000;

/** In characters, of the names of protected files, so that the body stays within GitHub's limit. */
const maxListLength = 1500;

/** Marks the beginning and the end of what is about protected files, which a later turn replaces. */
const marks = ["<!-- protected files -->", "<!-- end of protected files -->"] as const;

/** Returns what a body says first: the files that run code or instruct agents. Empty if there are none. */
function protectedPart(files: readonly string[]): string {
  if (files.length === 0) return "";
  const list = codeBlock(files.join("\n"), maxListLength);
  const warning = "> [!WARNING]\n> This changes files that run code or instruct agents. Review them first:";
  return `${marks[0]}\n${warning}\n\n${list}\n${marks[1]}`;
}

/**
 * Returns the body of a pull request that has one already, with the part about protected files up to date.
 *
 * @returns `undefined` if it is
 */
export function updatedBody(body: string, files: readonly string[]): string | undefined {
  const part = protectedPart(files);
  const [start, end] = [body.indexOf(marks[0]), body.indexOf(marks[1])];
  const rest = start === 0 && end > 0 ? body.slice(end + marks[1].length).trimStart() : body;
  const updated = part === "" ? rest : `${part}\n\n${rest}`;
  return updated === body ? undefined : updated;
}

/** Returns the body of a pull request on GitHub: files to review first, what the agent said, and what it was told. */
export function pullRequestBody({
  prompt,
  answer,
  jobId,
  protectedFiles = [],
}: Pick<Change, "prompt" | "answer" | "jobId" | "protectedFiles">): string {
  const first = protectedPart(protectedFiles);
  const said = answer === null ? [] : ["The agent's last message:", codeBlock(answer)];
  return [
    ...(first === "" ? [] : [first]),
    ...said,
    "Prompt of the agent:",
    codeBlock(prompt),
    `Job \`${jobId}\`.`,
  ].join("\n\n");
}

/**
 * Returns untrusted text as a code block, in which GitHub renders no Markdown, notifies nobody who is mentioned, links nothing
 * and closes no issue. Characters that reorder or hide text are removed.
 */
function codeBlock(untrusted: string, maxLength = maxTextLength): string {
  const all = untrusted.replace(/\r\n?/g, "\n").replace(/[^\P{C}\n\t]/gu, "");
  const text = all.length > maxLength ? `${all.slice(0, maxLength)}\n[truncated]` : all;
  const longest = (text.match(/`+/g) ?? []).reduce((max, { length }) => Math.max(max, length), 2);
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}
