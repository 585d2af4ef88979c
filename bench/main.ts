import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../service/src/error-message.ts";
import { defaultReference, extractReference } from "./reference.ts";
import { renderPage, renderReport } from "./report.ts";
import { scratchFolder } from "./scratch.ts";
import { measureSize } from "./size.ts";
import { measureStartUp, type Peer } from "./start-up.ts";
import { measureSteadyState } from "./steady.ts";

const help = `Usage: npm run bench -- [options]

Measures the action in dist: start-up, memory and size. Prints the tables, and writes them to bench/results.md. Takes about three
minutes.

  --peer NAME=FILE   also measure the main file of another action, which exits early without inputs; may be repeated
  --against REF      also measure the bundle that is committed at REF (default: the last release, or a fixed commit
                     as long as there is none)
  --rounds N         rounds of the start-up measurement (default: 40)
  --note TEXT        a sentence about the machine for the page, such as that it was shared
  --no-write         print only
  --help             show this help
`;

function readPeer(text: string): Peer {
  const [name = "", ...file] = text.split("=");
  if (name === "" || file.length === 0) throw new Error(`--peer must be NAME=FILE, not ${text}`);
  return { name, file: resolve(file.join("=")) };
}

interface Options {
  against: string;
  rounds: number;
  peers: Peer[];
  note: string;
  write: boolean;
}

function readOptions(): Options | "help" {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      against: { type: "string" },
      peer: { type: "string", multiple: true, default: [] },
      rounds: { type: "string", default: "40" },
      note: { type: "string", default: "" },
      write: { type: "boolean", default: true },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds must be an integer greater than 0");
  return {
    against: values.against ?? defaultReference(),
    rounds,
    peers: values.peer.map(readPeer),
    note: values.note,
    write: values.write,
  };
}

async function bench({ against, rounds, peers, note, write }: Options): Promise<void> {
  const onProgress = (text: string): void => void process.stderr.write(`${text}\n`);

  const sizes = measureSize();
  using scratch = scratchFolder();
  const reference = extractReference(against, scratch.path);
  const startUp = await measureStartUp({ rounds, memoryRounds: 5, peers, reference, onProgress });
  onProgress("10,000 polls");
  const steady = await measureSteadyState([1000, 2500, 5000, 10_000]);

  const report = renderReport({ note, rounds, startUp, steady, sizes });
  process.stdout.write(`${report}\n`);
  if (write) writeFileSync(resolve(import.meta.dirname, "results.md"), renderPage(report));
}

let options: ReturnType<typeof readOptions> | undefined;
try {
  options = readOptions();
} catch (error) {
  process.stderr.write(`${errorMessage(error)}\n\n${help}`);
  process.exitCode = 2;
}
if (options === "help") process.stdout.write(help);
else if (options) await bench(options);
