import { type Checked, checkAgain, checkCommit, unchecked } from "../project-commands.ts";
import { timeLeft } from "../turn-deadline.ts";
import { type Go, type Placed, type Position, type Work, withReport } from "../work.ts";
import { checkRatio, makeAgain } from "./make.ts";

/** Checks the commit of a turn. If it has broken what was good, its agent gets one more go. */
export async function check(work: Work, placed: Placed, go: Go | undefined): Promise<Position> {
  const { context } = work;
  const command = context.commands?.check;
  if (command === undefined) return { stage: "checked", placed };
  const checked = await checkPlaced(work, placed, go);
  work.maker = { ...withReport(work.maker, checked), stage: "checked" };
  if (work.isOwn) await context.store.runningTurns.setChecked(work.turn, checked);
  context.onChecked?.();
  const mayGoAgain = go !== undefined && !go.isSecond && checked.checkResult === "failed";
  if (mayGoAgain && !context.stop?.aborted && go.leftMs() >= context.timeLimitMs * checkRatio)
    return (await makeAgain(work, placed, go, command)) ?? { stage: "checked", placed };
  return { stage: "checked", placed };
}

async function checkPlaced({ turn, context, start }: Work, placed: Placed, go: Go | undefined): Promise<Checked> {
  const { timeLimitMs, signal, log } = context;
  const from = { ...start, head: placed.before, instructed: undefined };
  if (go === undefined) return checkAgain(turn, from, placed.own ?? placed.commit, context, signal);
  const limits = { timeLimitMs: Math.max(go.leftMs(), timeLeft(timeLimitMs, timeLimitMs)), signal };
  return checkCommit(turn, from, placed.commit, context, limits).catch((error: unknown) => unchecked(error, log));
}
