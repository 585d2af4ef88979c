import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";

// The checks and the unit tests of one half, at the same time: `node tools/test-fast.ts action|service`.

const root = resolve(import.meta.dirname, "..");
const [half = "action"] = process.argv.slice(2);

/**
 * Each prints what it has to say when it has ended. The compiler reads only what has changed since it ran last; `npm test`
 * also lints the other half.
 */
const commands = [
  `vitest run --project ${half}-unit`,
  "tsc --incremental --tsBuildInfoFile node_modules/.cache/agent-job-types",
  `biome ci --colors off ${half === "service" ? "service" : "src test tools bench stubs examples vitest.config.ts package.json"}`,
];

async function run(command: string): Promise<boolean> {
  const child = spawn(command, { cwd: root, shell: true, stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  process.stdout.write(`${code === 0 ? "passed" : "FAILED"}: ${command}\n${code === 0 ? "" : stdout + stderr}`);
  return code === 0;
}

const results = await Promise.all(commands.map(run));
process.exitCode = results.includes(false) ? 1 : 0;
