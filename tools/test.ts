import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";

// `node tools/test.ts [--fast] [action|service]`: checks, builds and runs the unit tests at the same time, and then the other tests.
// Default: of both halves. `--fast`: builds nothing, and runs only the unit tests.

const root = resolve(import.meta.dirname, "..");
const { values, positionals } = parseArgs({ allowPositionals: true, options: { fast: { type: "boolean" } } });
const halves = positionals.length > 0 ? positionals : ["action", "service"];
const projects = (suffix: string): string => halves.map((half) => `--project ${half}${suffix}`).join(" ");

/** The other tests run what is built; those of the service the action, too. */
const builds = values.fast ? [] : [`node tools/build.ts ${halves.includes("service") ? "" : "action"}`.trim()];
const linted = { action: "src test tools bench stubs examples vitest.config.ts package.json", service: "service" };
const lint = values.fast
  ? Object.entries(linted).flatMap(([half, paths]) => (halves.includes(half) ? paths : []))
  : ".";

/** Each prints what it has to say when it has ended. The compiler reads only what has changed since it ran last. */
const first = [
  `vitest run ${projects("-unit")}`,
  "tsc --incremental --tsBuildInfoFile node_modules/.cache/agent-job-types",
  `biome ci --colors off ${lint}`,
  ...builds,
];

async function run(command: string): Promise<boolean> {
  const child = spawn(command, { cwd: root, shell: true, stdio: ["ignore", "pipe", "pipe"] });
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  const summary = stdout.match(/^.*(?:Tests|Left out|skipped, |up to date).*$/gm)?.join("\n") ?? "";
  process.stdout.write(`${code === 0 ? "passed" : "FAILED"}: ${command}\n${code === 0 ? summary : stdout + stderr}\n`);
  return code === 0;
}

const results = await Promise.all(first.map(run));
if (results.includes(false)) process.exitCode = 1;
else if (!values.fast) {
  const [code] = await once(spawn(`vitest run ${projects("")}`, { cwd: root, shell: true, stdio: "inherit" }), "exit");
  process.exitCode = Number(code ?? 1);
  console.log(`Left out by this command, and run by .ci/run: tests of whole processes (npm run test:processes), and of programs.
Left out by both: most rows of long series, which npm run test:thorough runs.`);
}
