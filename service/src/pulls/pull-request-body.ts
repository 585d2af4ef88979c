import { codeBlock, readCodeBlock } from "../code-block.ts";
import { dollars } from "../cost.ts";
import type { Change } from "./pull-requests.ts";

/** A prompt, what the agent said last, what that cost, and what of its change was taken back. */
export type ToldTurn = Pick<Change, "prompt" | "answer"> & Partial<Pick<Change, "costUsd" | "takenBack">>;

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

/** Marks the beginning and the end of the part about protected files, which a later turn replaces. */
const marks = ["<!-- protected files -->", "<!-- end of protected files -->"] as const;

/** Returns the beginning of a body: the files that run code or instruct agents. Empty if there are none. */
function protectedPart(files: readonly string[]): string {
  if (files.length === 0) return "";
  const list = codeBlock(files.join("\n"), maxListLength);
  const warning =
    "> [!WARNING]\n> This changes files that run code, instruct agents or should have passed a Git filter. Review them first:";
  return `${marks[0]}\n${warning}\n\n${list}\n${marks[1]}`;
}

/**
 * Returns the body of a pull request that has one already, with the part about protected files up to date. What people wrote
 * in it stays.
 *
 * @param turn - a further turn, which is added at the end. Default: none
 * @returns `undefined` if it is up to date, or has no room
 */
export function updatedBody(body: string, files: readonly string[], turn?: ToldTurn): string | undefined {
  const part = protectedPart(files);
  const rest = withoutProtectedPart(body);
  const told = turn === undefined ? rest : withTurn(rest, turn);
  const updated = part === "" ? told : `${part}\n\n${told}`;
  return updated === body || updated.length > maxLength ? undefined : updated;
}

/** Returns a body without the part about protected files. The name of a file in its list can be that of a mark. */
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

/** Returns the body of a pull request on GitHub: files to review first, what the agent said, and what it was told. */
export function pullRequestBody({
  jobId,
  protectedFiles = [],
  ...turn
}: ToldTurn & Pick<Change, "jobId" | "protectedFiles">): string {
  const first = protectedPart(protectedFiles);
  const told = `${describeTurn(turn)}\n\nJob \`${jobId}\`.`;
  return first === "" ? told : `${first}\n\n${told}`;
}

/** Returns the body with a further turn at its end; as it is, if it has the turn already, or no room for it. */
function withTurn(body: string, turn: ToldTurn): string {
  const told = describeTurn(turn);
  const text = body.replaceAll("\r\n", "\n").trimEnd();
  const extended = `${text}\n\n${told}`;
  return text.includes(told) || extended.length > maxBodyLength ? body : extended;
}

/** Returns the turns that a body tells of, in that order. Untrusted: whoever may write to the repository can edit it. */
export function readTurns(body: string): ToldTurn[] {
  const lines = body.replaceAll("\r\n", "\n").split("\n");
  const turns: ToldTurn[] = [];
  let answer: string | null = null;
  for (let index = 0; index < lines.length; index++) {
    const title = lines[index];
    const isPrompt = title === promptTitle;
    const block = title === saidTitle || isPrompt ? readCodeBlock(lines, index + 2) : undefined;
    if (block === undefined) continue;
    if (isPrompt) turns.push({ prompt: block.text, answer });
    answer = title === saidTitle ? block.text : null;
    // What is in the block is not a title.
    index = block.end;
  }
  return turns;
}

function describeTurn({ prompt, answer, costUsd, takenBack = [] }: ToldTurn): string {
  const said = answer === null ? [] : [saidTitle, codeBlock(answer)];
  const cost = dollars(costUsd);
  const spent = cost === undefined ? [] : [`Cost, by the agent's own estimate: ${cost}.`];
  // Indented, so that no name is a title.
  const list = codeBlock(takenBack.map((name) => `  ${name}`).join("\n"), maxListLength);
  const lost = takenBack.length === 0 ? [] : ["Taken back, because `--only` does not allow it:", list];
  return [
    ...said,
    ...lost,
    ...spent,
    promptTitle,
    codeBlock(withoutPatches(prompt), maxPromptLength),
    endOfPrompt,
  ].join("\n\n");
}

function withoutPatches(prompt: string): string {
  const text = prompt.replace(/\r\n?/g, "\n");
  const start = text.search(firstPatch);
  return start === -1 ? prompt : `${text.slice(0, start)}[patches are left out]`;
}
