import { errorMessage } from "../../error-message.ts";
import { SecretPatterns } from "../../secret-patterns.ts";
import { storable } from "../../store/sql.ts";
import { type Checked, checkCommit, prepareWorktree, Stopped } from "../project-commands.ts";
import { timeLeft } from "../turn-deadline.ts";
import type { ProjectCommands } from "../turn-ports.ts";
import { type Go, type Placed, type Position, type Work, withReport } from "../work.ts";
import { checkRatio, makeAgain } from "./make.ts";

/** In characters. */
const maxReasonLength = 1000;

/** Checks a turn's commit. If it broke a check that passed before, the agent runs once more. */
export async function check(work: Work, placed: Placed, go: Go | undefined): Promise<Position> {
  const { context } = work;
  const { commands } = context;
  if (commands?.check === undefined) return { stage: "checked", placed };
  const checked = await checkPlaced(work, placed, commands, go);
  work.maker = { ...withReport(work.maker, checked), stage: "checked" };
  if (work.isOwn) await context.store.runningTurns.setChecked(work.turn, checked);
  context.onChecked?.();
  const mayGoAgain = go !== undefined && !go.isSecond && checked.checkResult === "failed";
  if (mayGoAgain && !context.stop?.aborted && go.leftMs() >= context.timeLimitMs * checkRatio)
    return (await makeAgain(work, placed, go, commands.check)) ?? { stage: "checked", placed };
  return { stage: "checked", placed };
}

/** @throws Stopped if the service stops */
async function checkPlaced(
  { turn, context, start }: Work,
  { commit, own = commit, before }: Placed,
  commands: ProjectCommands,
  go: Go | undefined,
): Promise<Checked> {
  const { leftMs, machine, signal, log } = context;
  const timeLimitMs = Math.min(context.timeLimitMs, leftMs?.() ?? context.timeLimitMs);
  const from = { ...start, head: before, instructed: undefined };
  const endAt =
    machine.now() + (go === undefined ? timeLimitMs : Math.max(go.leftMs(), timeLeft(timeLimitMs, timeLimitMs)));
  const limits = () => ({ timeLimitMs: endAt - machine.now(), signal });
  try {
    // A resumed turn has no setup files.
    if (go === undefined && commands.setup !== undefined) await prepareWorktree(turn, from, context, limits());
    return await checkCommit(turn, from, own, commands, context, limits);
  } catch (error) {
    if (error instanceof Stopped) throw error;
    // A missing prerequisite of the check must not lose paid work.
    log(`The commit is not checked: ${errorMessage(error)}`);
    const why = await new SecretPatterns(context.secrets ?? []).remove(errorMessage(error));
    // People who merge it should know.
    return { checkOutput: String(storable(why.slice(-maxReasonLength))) };
  }
}
