import { parseArgs } from "node:util";
import { findViolation } from "./property.ts";

const help = `Usage: npm run simulate -- [--runs N] [--seed N] [--path PATH]

Runs the whole action N times (default: 10000) against a simulated service, network and GitHub, each time with one to three
attempts of a workflow run, and with a history of one to six attempts that share a simulated Actions cache. Stops at the first
run that violates an invariant: a job started twice, a lost job id, a wrong outcome, a false statement, a wait without end, a
leaked key, or untrusted text that becomes a command. A failure prints the seed and path that reproduce it.
`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string" },
    path: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else {
  const seed = values.seed === undefined ? Date.now() : Number(values.seed);
  const runs = Number(values.runs);
  if (!Number.isInteger(seed) || !(runs > 0)) throw new Error("--runs and --seed must be whole numbers");
  const startedAt = performance.now();
  const violation = await findViolation({ runs, seed, ...(values.path !== undefined && { path: values.path }) });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(
    violation ?? `${runs.toLocaleString("en-US")} runs from seed ${seed} in ${seconds} s: no invariant was violated`,
  );
  process.exitCode = violation ? 1 : 0;
}
