import { parseArgs } from "node:util";
import { findBrokenPromise } from "./property.ts";

const help = `Usage: npm run simulate -- [--runs N] [--seed N] [--path PATH]

Runs the whole action against a simulated service and network on a fake clock, N times (default: 10000), and stops at
the first run that breaks a promise: a job started twice, an id lost, an outcome that is not true, a wait without end,
the key shown, outside text that becomes a command. A failure prints the seed and path that play it again.
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
  if (!Number.isInteger(seed) || !(runs > 0)) throw new Error("--runs and --seed take whole numbers");
  const startedAt = performance.now();
  const failure = await findBrokenPromise({ runs, seed, ...(values.path !== undefined && { path: values.path }) });
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(
    failure ?? `${runs.toLocaleString("en-US")} runs from seed ${seed} in ${seconds} s: every promise was kept`,
  );
  process.exitCode = failure ? 1 : 0;
}
