import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mainFile } from "../../../tools/runner.ts";
import type { Plan } from "./plan.ts";
import { play, search, shrink } from "./search.ts";

const help = `Usage: npm run histories -- [--runs N] [--seed S] [--minutes M] [--at-once K] [--verbose]
       npm run histories -- --plan JSON [--shrink KIND]

Plays N random histories (default: 20) of a workflow with an agent, with the built action, a GitHub with Git, and the Actions cache:
some runs with their attempts, which are cancelled and killed, lose answers, and meet people who push, merge, close, delete and rename;
then healthy ones. Then the agents that ran, the repository, the pull requests and the outputs are compared: nothing was paid twice,
nothing that was paid for is lost, no success is false, and nothing is left behind. If something is wrong, it is printed with the
command that repeats it, and the exit code is 1. Run npm run build before. Linux only, with Git and curl.

  --minutes M     begin no history after this time
  --at-once K     play K of them at a time (default: 1)
  --verbose       print the plan and the logs of each history; with --plan, always
  --plan JSON     play this history, as --verbose has printed it
  --shrink KIND   find a smaller history with the same kind of finding
`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    seed: { type: "string" },
    minutes: { type: "string" },
    "at-once": { type: "string", default: "1" },
    verbose: { type: "boolean", default: false },
    plan: { type: "string" },
    shrink: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

const log = (line: string): void => console.log(line);

if (values.help) process.stdout.write(help);
else {
  if (!existsSync(mainFile)) throw new Error("there is no bundle: run npm run build");
  // Each history starts a dozen processes of Node, which read what an earlier one compiled, and writes thousands of files.
  process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "../../../node_modules/.cache/agent-job-compiled");
  if (existsSync("/dev/shm")) process.env.TMPDIR ??= "/dev/shm";
  if (values.plan !== undefined) {
    const plan = JSON.parse(values.plan) as Plan;
    const { findings } = await play(plan, log);
    for (const { kind, text } of findings) log(`FOUND ${kind}: ${text}`);
    if (values.shrink !== undefined) log(`smallest: ${JSON.stringify(await shrink(plan, values.shrink, log))}`);
    process.exit(findings.length === 0 ? 0 : 1);
  }
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  const [runs, atOnce] = [Number(values.runs), Number(values["at-once"])];
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (![seed, runs, atOnce].every(Number.isInteger) || !(atOnce > 0) || !((minutes ?? 1) > 0))
    throw new Error("--runs, --seed, --minutes and --at-once must be numbers");
  const result = await search({ runs, seed, minutes, atOnce, isVerbose: values.verbose, log });
  const { histories, attempts, agents, cpuSeconds, findings } = result;
  log(
    `${histories} histories from seed ${seed}: ${attempts} attempts, ${agents} agents, ${Math.round(cpuSeconds)} CPU seconds`,
  );
  log(findings.length === 0 ? "Nothing is wrong." : `${findings.length} things are wrong.`);
  process.exit(findings.length === 0 ? 0 : 1);
}
