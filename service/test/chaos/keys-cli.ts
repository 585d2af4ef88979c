import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { runKeys } from "./keys.ts";

const help = `Usage: npm run chaos:keys -- [--creates N] [--seed S]

Runs the service as two api processes on a Postgres server of its own, and sends each of N creates (default: 1000) two to five
times with the same Idempotency-Key, to any process, often without waiting for the answer. Meanwhile processes and the server are
killed. At the end there are as many jobs as keys, and every answer has named the job of its key. Linux and macOS only. If something
is wrong, the logs of the processes are kept, and the exit code is 1.
`;

const { values } = parseArgs({
  options: {
    creates: { type: "string", default: "1000" },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else {
  const creates = Number(values.creates);
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  if (!Number.isInteger(creates) || creates < 1 || !Number.isInteger(seed))
    throw new Error("--creates and --seed must be numbers");
  const folder = mkdtempSync(join(tmpdir(), "chaos-"));
  const startedAt = performance.now();
  const log = (line: string): void => {
    process.stderr.write(`${Math.round((performance.now() - startedAt) / 1000)} s: ${line}\n`);
  };
  log(`${creates} creates, seed ${seed}, logs in ${folder}`);
  const { wrong, numbers } = await runKeys({ creates, seed, folder, log });
  for (const [what, number] of numbers) console.log(`${what}: ${number}`);
  for (const text of wrong) console.log(`WRONG: ${text}`);
  console.log(wrong.length === 0 ? "Nothing is wrong." : `${wrong.length} things are wrong; the logs are in ${folder}`);
  if (wrong.length === 0) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
