import { codeBlock, readCodeBlock } from "../code-block.ts";
import type { Change } from "./pull-requests.ts";

/** A prompt, and what the agent said last. */
export type ToldTurn = Pick<Change, "prompt" | "answer">;

const saidTitle = "The agent's last message:";
const promptTitle = "Prompt of the agent:";
/** In characters. GitHub allows 65,536 for the body of a pull request. */
const maxBodyLength = 60_000;

/** Returns the body of a pull request on GitHub: what the agent said, and what it was told. */
export function pullRequestBody({ prompt, answer, jobId }: ToldTurn & Pick<Change, "jobId">): string {
  return `${describeTurn({ prompt, answer })}\n\nJob \`${jobId}\`.`;
}

/**
 * Returns the body with a further turn at its end. What people wrote in it stays.
 *
 * @returns `undefined` if the body has the turn already, or has no room for it
 */
export function withTurn(body: string, turn: ToldTurn): string | undefined {
  const told = describeTurn(turn);
  const text = body.replaceAll("\r\n", "\n").trimEnd();
  const extended = `${text}\n\n${told}`;
  return text.includes(told) || extended.length > maxBodyLength ? undefined : extended;
}

/** Returns the turns that a body tells of, in that order. Untrusted: whoever may write to the repository can edit it. */
export function readTurns(body: string): ToldTurn[] {
  const lines = body.replaceAll("\r\n", "\n").split("\n");
  const turns: ToldTurn[] = [];
  let answer: string | null = null;
  for (let index = 0; index < lines.length; index++) {
    const title = lines[index];
    const block = title === saidTitle || title === promptTitle ? readCodeBlock(lines, index + 2) : undefined;
    if (block === undefined) continue;
    if (title === promptTitle) turns.push({ prompt: block.text, answer });
    answer = title === saidTitle ? block.text : null;
    // What is in the block is not a title.
    index = block.end;
  }
  return turns;
}

function describeTurn({ prompt, answer }: ToldTurn): string {
  const said = answer === null ? [] : [saidTitle, codeBlock(answer)];
  return [...said, promptTitle, codeBlock(prompt)].join("\n\n");
}
