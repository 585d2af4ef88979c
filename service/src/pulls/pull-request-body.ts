import { inertText, withoutMarks } from "../../../src/runner-kit/inert-text.ts";
import { quote, unquote } from "../../../src/runner-kit/quotation.ts";
import { codeBlock, readCodeBlock } from "../code-block.ts";
import { dollars } from "../cost.ts";
import type { CommitNotes } from "./commit-message.ts";
import type { Change, ShownCheck } from "./pull-requests.ts";

/** A prompt, what the agent said last, what that cost, and what people should know of its change. */
export type ToldTurn = Pick<Change, "prompt" | "answer"> &
  Partial<Pick<Change, "costUsd" | keyof CommitNotes>> & {
    /** Who asked for it, in Markdown; see `describeAsked`. Default: that is unknown. */
    askedBy?: string;
  };

const saidTitle = "The agent's last message:";
/** The line before a prompt, which is folded. */
const promptTitle = "<details><summary>Prompt of the agent</summary>";
const endOfPrompt = "</details>";
/** In characters. */
const maxPromptLength = 2000;
/** Where the patches begin that the action adds to a prompt, or a diff of Git. People see them in the pull request itself. */
const firstPatch = /^(?:Patch of .*:$|diff --git |@@ -\d)/m;
/** GitHub's limit for the body of a pull request, in characters. */
const maxLength = 65_536;
/** A further turn leaves some room for people's own text. */
const maxBodyLength = 60_000;

/** In characters, of the names of protected files, so that the body stays within GitHub's limit. */
const maxListLength = 1500;

/** In characters, of the output of a check. */
const maxOutputLength = 4000;

/** Mark the beginning and the end of the parts about the check and about protected files, which a later turn replaces. */
const marks = ["<!-- protected files -->", "<!-- end of protected files -->"] as const;
const checkMarks = ["<!-- check -->", "<!-- end of check -->"] as const;
/** Marks a pull request that the service made a draft, because its check failed or did not run. */
const draftMark = "<!-- draft because of the check -->";

/** What a body says of a check that did not pass. */
const failures = {
  failed: ["> [!CAUTION]", "> The check fails with this change:"],
  "not-run": ["> [!CAUTION]", "> The check did not run, so nothing shows whether this change works:"],
  "failed-before": ["> [!WARNING]", "> The check fails with and without this change, so it shows nothing:"],
} as const;

/** Returns untrusted text as a code block, in which nothing has an effect in a commit message either: a squash takes the body for one. */
const inertBlock = (untrusted: string, maxLength?: number): string => inertText(codeBlock(untrusted, maxLength));

/** Returns whether the service made a pull request with this body a draft. */
export const isMarkedAsDraft = (body: string): boolean => body.split(/\r?\n/, 2)[1] === draftMark;

/** Returns the beginning of a body: what the check showed. Empty if the commit was not checked, and it is no draft. */
function checkPart(check: ShownCheck | undefined, isDraft: boolean): string {
  // A later check that passes makes the draft ready.
  if (check === undefined) return isDraft ? `${checkMarks[0]}\n${draftMark}\n${checkMarks[1]}` : "";
  const { result, command, output } = check;
  const start = isDraft ? `${checkMarks[0]}\n${draftMark}` : checkMarks[0];
  const shown = command === "" ? [] : [inertBlock(command, 1000)];
  if (result === "passed") return [`${start}\n> [!NOTE]\n> The check passed:`, ...shown, checkMarks[1]].join("\n\n");
  const said = failures[result].join("\n");
  const end = output.length > maxOutputLength ? output.slice(-maxOutputLength) : output;
  const details = "<details><summary>End of its output</summary>";
  return [`${start}\n${said}`, ...shown, details, inertBlock(end), "</details>", checkMarks[1]].join("\n\n");
}

/** Returns the beginning of a body: the files that run code or instruct agents. Empty if there are none. */
function protectedPart(files: readonly string[]): string {
  if (files.length === 0) return "";
  const list = inertBlock(files.join("\n"), maxListLength);
  const warning =
    "> [!WARNING]\n> This changes files that run code, instruct agents or should have passed a Git filter. Review them first:";
  return `${marks[0]}\n${warning}\n\n${list}\n${marks[1]}`;
}

/**
 * Returns the body of a pull request that has one already, with the part about protected files up to date. What people wrote in it stays.
 *
 * @param turn - a further turn, which is added at the end. Default: none
 * @param check - what the last check showed, and whether the pull request is a draft because of one. Default: nothing
 * @returns `undefined` if it is up to date, or has no room
 */
export function updatedBody(
  body: string,
  files: readonly string[],
  turn?: ToldTurn,
  { check, isDraft = false }: { check?: ShownCheck | undefined; isDraft?: boolean } = {},
): string | undefined {
  const rest = withoutProtectedPart(withoutCheckPart(body));
  const told = turn === undefined ? rest : withTurn(rest, turn);
  const updated = [checkPart(check, isDraft), protectedPart(files), told].filter(Boolean).join("\n\n");
  return updated === body || updated.length > maxLength ? undefined : updated;
}

/** Returns a body without the part about protected files. The name of a file in its list can look like a mark. */
function withoutProtectedPart(body: string): string {
  const lines = body.replaceAll("\r\n", "\n").split("\n");
  if (lines[0] !== marks[0]) return body;
  const list = readCodeBlock(
    lines,
    lines.findIndex((line) => /^`{3,}text$/.test(line)),
  );
  return list !== undefined && lines[list.end + 1] === marks[1]
    ? lines
        .slice(list.end + 2)
        .join("\n")
        .trimStart()
    : body;
}

/** Returns a body without the part about the check. The output in it can be any text, but no line of it ends its code block. */
function withoutCheckPart(body: string): string {
  const lines = body.replaceAll("\r\n", "\n").split("\n");
  if (lines[0] !== checkMarks[0]) return body;
  for (let index = 1; index < lines.length; index++) {
    if (lines[index] === checkMarks[1])
      return lines
        .slice(index + 1)
        .join("\n")
        .trimStart();
    index = readCodeBlock(lines, index)?.end ?? index;
  }
  return body;
}

/**
 * Returns the body of a pull request on GitHub: what its check showed, files to review first, what the agent said, and what it was told.
 *
 * @param isDraft - whether it is made a draft, because of its check. Default: no
 */
export function pullRequestBody(
  { jobId, protectedFiles = [], check, ...turn }: ToldTurn & Pick<Change, "jobId" | "protectedFiles" | "check">,
  isDraft = false,
): string {
  const told = `${describeTurn(turn)}\n\n${jobLine(jobId)}`;
  return [checkPart(check, isDraft), protectedPart(protectedFiles), told].filter(Boolean).join("\n\n");
}

const jobLine = (jobId: string): string => `Job \`${jobId}\`.`;

/** Returns whether a body was written for a job. */
export const tellsOfJob = (body: string, jobId: string): boolean => body.split(/\r?\n/).includes(jobLine(jobId));

/** Returns a body with a further turn at its end; as it is, if it has the turn already, or no room for it. */
export function withTurn(body: string, turn: ToldTurn): string {
  const text = body.replaceAll("\r\n", "\n").trimEnd();
  const extended = `${text}\n\n${describeTurn(turn)}`;
  return text.includes(describeTurn({ ...turn, askedBy: "" })) || extended.length > maxBodyLength ? body : extended;
}

/** Returns the turns that a body tells of, in that order. Untrusted: whoever may write to the repository can edit it. */
export function readTurns(body: string): ToldTurn[] {
  const lines = body.replaceAll("\r\n", "\n").split("\n");
  const turns: ToldTurn[] = [];
  let answer: string | null = null;
  for (let index = 0; index < lines.length; index++) {
    const title = lines[index];
    const isPrompt = title === promptTitle;
    const read = isPrompt ? readCodeBlock : unquote;
    const found = isPrompt || title === saidTitle ? read(lines, index + 2) : undefined;
    if (found === undefined) continue;
    if (isPrompt) turns.push({ prompt: withoutMarks(found.text), answer });
    answer = isPrompt ? null : found.text;
    // What is in it is not a title.
    index = found.end;
  }
  return turns;
}

/**
 * Returns the part of a body about a check that did not pass; `undefined` if it tells of none. That one has passed is not taken from a text
 * that whoever may write to the repository can edit.
 */
export function readFailedCheck(body: string): Pick<ShownCheck, "result" | "output"> | undefined {
  const lines = body.replaceAll("\r\n", "\n").split("\n");
  const said = lines.slice(1, 4);
  const result = (["failed", "failed-before"] as const).find((one) => said.includes(failures[one][1]));
  if (lines[0] !== checkMarks[0] || result === undefined) return undefined;
  let output = "";
  for (let index = 1; index < lines.length && lines[index] !== checkMarks[1]; index++) {
    const block = readCodeBlock(lines, index);
    // The first one is the command.
    if (block !== undefined) [output, index] = [withoutMarks(block.text), block.end];
  }
  return { result, output };
}

function describeTurn({ prompt, answer, costUsd, askedBy = "", notes = [], takenBack = [] }: ToldTurn): string {
  const said = answer === null ? [] : [saidTitle, quote(answer)];
  const cost = dollars(costUsd);
  const spent = cost === undefined ? [] : [`Cost, by the agent's own estimate: ${cost}.`];
  // Indented, so that no name is a title.
  const listOf = (title: string, lines: readonly string[]): string[] =>
    lines.length === 0 ? [] : [title, inertBlock(lines.map((line) => `  ${line}`).join("\n"), maxListLength)];
  return [
    // First, so that a body that does not have it has the rest.
    ...(askedBy === "" ? [] : [askedBy]),
    ...listOf("Of the agent's run:", notes),
    ...said,
    ...listOf("Taken back, because `--only` does not allow it:", takenBack),
    ...spent,
    promptTitle,
    inertBlock(withoutPatches(prompt), maxPromptLength),
    endOfPrompt,
  ].join("\n\n");
}

function withoutPatches(prompt: string): string {
  const text = prompt.replace(/\r\n?/g, "\n");
  const start = text.search(firstPatch);
  return start === -1 ? prompt : `${text.slice(0, start)}[patches are left out]`;
}
