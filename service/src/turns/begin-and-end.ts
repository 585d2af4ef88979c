import { errorMessage } from "../error-message.ts";
import { type CommitNotes, commitMessage } from "../pulls/commit-message.ts";
import type { Work } from "./work.ts";

/** What a turn may take besides its time limit, in milliseconds. */
const reserveMs = 600_000;

/** Says to other machines that a turn's agent is about to run. Without that, it runs all the same. */
export async function tellBegin(work: Work): Promise<void> {
  const { turn, context } = work;
  const { keptCommits, job, machine, timeLimitMs, log } = context;
  const until = machine.wallTime() + timeLimitMs + reserveMs;
  try {
    const begunIn = work.begunIn?.map(({ id }) => id);
    const message = commitMessage(turn, [], job, { left: "begun", until, begunIn }, "Begun");
    const risk = await keptCommits?.begin?.(turn, message);
    if (risk !== undefined) log(risk);
    work.hasBegun = keptCommits?.begin !== undefined;
  } catch (error) {
    log(errorMessage(error));
  }
}

/** Remembers how a turn ended without anything to keep, for machines that have nothing of this one. */
export async function tellEnd({ turn, context }: Pick<Work, "turn" | "context">, notes: CommitNotes): Promise<void> {
  const { keptCommits, job, log } = context;
  try {
    // It contains the prompt's hash, not its text.
    const message = commitMessage(turn, [], job, notes, "No change");
    await context.patiently(async () => keptCommits?.end?.(turn, message));
  } catch (error) {
    log(`How the turn ended is only known on this machine: ${errorMessage(error)}`);
  }
}
