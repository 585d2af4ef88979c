import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../../service/src/error-message.ts";
import { mutate, type Sample } from "./mutate.ts";
import { renderReport, tallies } from "./report.ts";

const help = `Usage: npm run mutate [-- PATH ...] [options]

Changes the sources in many small ways, one at a time, and reports which of these mutants no test notices: there the tests
would let a mistake pass. PATH is a file or folder (default: src/client src/action src/runner-kit service/src service/step). Uses the tests in
test/unit and test/integration. A mutant cannot reach other processes: tests of dist, and of programs that a test starts,
do not count, and files that only such processes run are listed apart. So are mutants of string literals.

  --without FILE   leave out tests, such as slow ones, by their path or a pattern of it; can be repeated
  --sample N       try only N mutants, chosen by a seed from those that are not of string literals
  --seed S         the seed of the sample (default: 1)
  --json FILE      also write the result for every mutant
  --threshold N    exit with 1 if less than N percent are noticed
  --help           show this help
`;

interface Options {
  paths: string[];
  without: string[];
  sample: Sample | undefined;
  json: string | undefined;
  threshold: number;
}

function readOptions(): Options | "help" {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      without: { type: "string", multiple: true, default: [] },
      sample: { type: "string" },
      seed: { type: "string", default: "1" },
      json: { type: "string" },
      threshold: { type: "string", default: "0" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const threshold = Number(values.threshold);
  if (!(threshold >= 0 && threshold <= 100)) throw new Error("--threshold must be a number from 0 to 100");
  const size = Number(values.sample ?? 1);
  const seed = Number(values.seed);
  if (!(Number.isInteger(size) && size > 0 && Number.isInteger(seed)))
    throw new Error("--sample must be a positive integer, and --seed an integer");
  const paths =
    positionals.length > 0
      ? positionals
      : ["src/client", "src/action", "src/runner-kit", "service/src", "service/step"];
  const sample = values.sample === undefined ? undefined : { size, seed };
  return { paths, without: values.without, sample, json: values.json, threshold };
}

async function main({ paths, without, sample, json, threshold }: Options): Promise<void> {
  const startedAt = performance.now();
  const onProgress = (text: string): void => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    process.stderr.write(`${seconds} s: ${text}\n`);
  };
  const run = await mutate({ root: resolve(import.meta.dirname, "../.."), paths, without, sample, onProgress });
  process.stdout.write(renderReport(run));
  const files = tallies(run);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ files, ...run }, null, 2)}\n`);
  onProgress("done");
  if ((files[0]?.score ?? 0) < threshold) process.exitCode = 1;
}

try {
  const options = readOptions();
  if (options === "help") process.stdout.write(help);
  else await main(options);
} catch (error) {
  process.stderr.write(`${errorMessage(error)}\n\n${help}`);
  process.exitCode = 2;
}
