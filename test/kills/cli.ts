import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mainFile } from "../../tools/runner.ts";
import { runKills } from "./kills.ts";

const help = `Usage: npm run kills -- [--runs N] [--cancellations M] [--seed S] [--only INDEX]

Runs the built action as a runner does, kills it with SIGKILL at a random moment, and re-runs it twice; a third of the second
attempts are killed too. Of N histories (default: 400), half use the service of this repository, and half a service that knows no keys
of requests; each has a cache that may be written or read, or not, and runs in plain mode, with a session or in comment mode. There
must never be a second job, and with the first service the re-runs must end with the pull request. In M more histories (default: 60),
the service and the cache are slow, and the first attempt is cancelled: it must end within 7 s, and the re-run must do what it said.
Prints each history and what re-runs did; if one is wrong, the exit code is 1. Run npm run build before. Linux and macOS only.

  --only INDEX       run only the history with this number in the report, with its log
`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "400" },
    cancellations: { type: "string", default: "60" },
    seed: { type: "string" },
    only: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else {
  const runs = Number(values.runs);
  const cancellations = Number(values.cancellations);
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  const only = values.only === undefined ? undefined : Number(values.only);
  const numbers = [runs, cancellations, seed, only ?? 0];
  if (!numbers.every(Number.isInteger) || runs < 0 || cancellations < 0)
    throw new Error("--runs, --cancellations, --seed and --only must be numbers");
  if (!existsSync(mainFile)) throw new Error("there is no bundle: run npm run build");
  const folder = mkdtempSync(join(tmpdir(), "kills-service-"));
  try {
    const log = (line: string): void => console.error(line);
    const { wrong, counts } = await runKills({ runs, cancellations, seed, only, folder, log });
    for (const [what, number] of [...counts].sort()) console.log(`${what}: ${number}`);
    console.log(
      wrong === 0 ? `Nothing is wrong, from seed ${seed}.` : `${wrong} histories from seed ${seed} are wrong.`,
    );
    process.exitCode = wrong === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
