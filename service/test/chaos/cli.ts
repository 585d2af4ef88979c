import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runChaos } from "./run.ts";

const help = `Usage: npm run chaos -- [--jobs N] [--minutes M] [--seed S] [--every S] [--pgbouncer session|transaction]

Runs the service as two api and three worker processes on a Postgres server of its own, and creates N jobs (default: 100) with
some messages in M minutes (default: 3). Meanwhile a fault begins every S seconds (default: 8): processes and the server are killed,
stopped and paused, pushes are held up, connections are cut, or forgotten without a word, a disk is full (if this process may mount
one), and the server loses its last second, or is restored from a backup. Some agents change nothing, or something else when they are
run again. Then everything runs undisturbed until all turns have ended, and what clients were told, the agents, the database and the
Git repository are compared: no two agents ran for a turn at the same time, nothing is called completed that no agent has done, and
nothing that was accepted is lost or done twice, except what the server lost; that is counted. With --pgbouncer, all go through the
machine's PgBouncer in this mode, and only the workers know the server's own URL. Linux and macOS only. If something is wrong, the
logs of the processes are kept with the repository and the store, and the exit code is 1.
`;

const { values } = parseArgs({
  options: {
    jobs: { type: "string", default: "100" },
    minutes: { type: "string", default: "3" },
    seed: { type: "string" },
    every: { type: "string", default: "8" },
    pgbouncer: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else {
  const [jobs, minutes, everyMs] = [Number(values.jobs), Number(values.minutes), Number(values.every) * 1000];
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  if (!Number.isInteger(jobs) || !(jobs > 0) || !(minutes > 0) || !Number.isInteger(seed) || !(everyMs > 0))
    throw new Error("--jobs, --minutes, --seed and --every must be numbers");
  const { pgbouncer: poolMode } = values;
  if (poolMode !== undefined && poolMode !== "session" && poolMode !== "transaction")
    throw new Error("--pgbouncer must be session or transaction");
  const folder = mkdtempSync(join(tmpdir(), "chaos-"));
  const startedAt = performance.now();
  const log = (line: string): void => {
    process.stderr.write(`${Math.round((performance.now() - startedAt) / 1000)} s: ${line}\n`);
  };
  log(
    `${jobs} jobs in ${minutes} minutes, seed ${seed},${poolMode ? ` PgBouncer in ${poolMode} mode,` : ""} logs in ${folder}`,
  );
  const { wrong, numbers } = await runChaos({ jobs, minutes, seed, everyMs, poolMode, folder, log });
  for (const [what, number] of numbers) console.log(`${what}: ${number}`);
  for (const text of wrong) console.log(`WRONG: ${text}`);
  console.log(wrong.length === 0 ? "Nothing is wrong." : `${wrong.length} things are wrong; the logs are in ${folder}`);
  if (wrong.length === 0) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
