import { readFileSync } from "node:fs";
import { type Finding, judge } from "./judge.ts";
import { drawPlan, type Plan, smallerPlans } from "./plan.ts";
import { type AttemptRun, playHistory } from "./play.ts";

export interface SearchOptions {
  /** How many histories are drawn, from this seed, the next one, and so on. */
  runs: number;
  seed: number;
  /** Afterwards, no history is begun. Default: no limit. */
  minutes?: number | undefined;
  /** How many are played at a time. Default: 1. */
  atOnce?: number | undefined;
  /** Whether each history is described, with the logs of its attempts. */
  isVerbose?: boolean | undefined;
  log: (line: string) => void;
}

export interface SearchResult {
  histories: number;
  attempts: number;
  agents: number;
  /** Of this process and all that it has started, in seconds. */
  cpuSeconds: number;
  findings: (Finding & { seed: number })[];
}

/** Plays histories from a seed, and judges them. Each has a seed of its own, so that it can be repeated alone. */
export async function search(options: SearchOptions): Promise<SearchResult> {
  const { runs, seed, minutes = Number.POSITIVE_INFINITY, atOnce = 1, isVerbose = false, log } = options;
  const endsAt = performance.now() + minutes * 60_000;
  const cpuBefore = cpuSeconds();
  const result: SearchResult = { histories: 0, attempts: 0, agents: 0, cpuSeconds: 0, findings: [] };
  let next = seed;
  const playOne = async (own: number): Promise<void> => {
    const played = await play(drawPlan(own), isVerbose ? log : undefined);
    result.histories++;
    result.attempts += played.attempts;
    result.agents += played.agents;
    for (const finding of played.findings) {
      result.findings.push({ ...finding, seed: own });
      log(`FOUND ${finding.kind}: ${finding.text}\n  again: npm run histories -- --runs 1 --seed ${own} --verbose`);
    }
  };
  const playRest = async (): Promise<void> => {
    while (next < seed + runs && performance.now() < endsAt) await playOne(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, playRest));
  return { ...result, cpuSeconds: cpuSeconds() - cpuBefore };
}

/** Plays one history, and judges it. */
export async function play(plan: Plan, log?: (line: string) => void) {
  const history = await playHistory(plan);
  try {
    const findings = judge(history);
    const { attempts, agents, acts, github } = history;
    // What the stand-in lacks would be taken for a fault.
    if (github.unknown.length > 0) findings.push({ kind: "the stand-in lacks", text: github.unknown.join("; ") });
    if (log) {
      log(JSON.stringify(plan));
      for (const attempt of attempts) log(describeAttempt(attempt));
      for (const { id, kind, attempt, isCompleted } of agents)
        log(`agent ${id} in ${attempt}: ${kind}${isCompleted ? "" : ", not completed"}`);
      for (const act of acts) log(`a person: ${act.act}, ${act.in}`);
      for (const { number, branch, state, events } of github.pulls)
        log(`#${number} of ${branch}: ${state} ${events.join()}`);
    }
    return { findings, attempts: attempts.length, agents: agents.length };
  } finally {
    await history.dispose();
  }
}

function describeAttempt({ name, plan, access, outputs, exitCode, requests, faulted, log }: AttemptRun): string {
  const how = `${plan.agent}, cache ${access}, ${outputs.outcome ?? "no outcome"}, exit code ${exitCode}, ${faulted.join()}`;
  return `attempt ${name}: ${how}\n  requests: ${requests.join(", ")}\n${log.replace(/^/gm, "    ")}`;
}

/** Takes away what a kind of finding does not need, one thing at a time. */
export async function shrink(plan: Plan, kind: string, log: (line: string) => void): Promise<Plan> {
  for (const smaller of smallerPlans(plan)) {
    const { findings } = await play(smaller);
    if (!findings.some((finding) => finding.kind === kind)) continue;
    log(`smaller: ${JSON.stringify(smaller)}`);
    return shrink(smaller, kind, log);
  }
  return plan;
}

/** Returns what this process and the processes that it waited for have used, with theirs. Linux only. */
function cpuSeconds(): number {
  const fields = readFileSync("/proc/self/stat", "latin1").split(") ")[1]?.split(" ") ?? [];
  // utime, stime, cutime and cstime, in hundredths.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}
