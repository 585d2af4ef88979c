import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { measureFleet } from "./fleet.ts";
import { measureNotice } from "./notice.ts";
import { plotFleet, plotNotice } from "./plot.ts";
import { renderReport } from "./report.ts";
import { measureSize } from "./size.ts";
import { measureStartUp, type Peer } from "./start-up.ts";
import { measureSteadyState } from "./steady.ts";

const help = `Usage: npm run bench -- [options]

Measures the action as it is built in dist: start-up, memory, size, lateness of the notice and load on the service.
Prints the tables, and writes them with their plots to docs/performance.md. Takes about four minutes.

  --peer NAME=FILE   measure another action's main file too, at its own early end without inputs; may be repeated
  --rounds N         rounds of the start-up measurement (default: 40)
  --no-write         only print
  --help             show this
`;

const docs = resolve(import.meta.dirname, "../docs");
const [begin, end] = ["<!-- measured: npm run bench writes from here -->", "<!-- to here -->"];

function readPeer(text: string): Peer {
  const [name = "", ...file] = text.split("=");
  if (name === "" || file.length === 0) throw new Error(`--peer takes NAME=FILE, not ${text}`);
  return { name, file: resolve(file.join("=")) };
}

interface Options {
  rounds: number;
  peers: Peer[];
  isWritten: boolean;
}

function readOptions(): Options | "help" {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      peer: { type: "string", multiple: true, default: [] },
      rounds: { type: "string", default: "40" },
      write: { type: "boolean", default: true },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const rounds = Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error("--rounds takes a whole number above 0");
  return { rounds, peers: values.peer.map(readPeer), isWritten: values.write };
}

async function bench({ rounds, peers, isWritten }: Options): Promise<void> {
  const onProgress = (text: string): void => void process.stderr.write(`${text}\n`);

  const sizes = measureSize();
  const startUp = await measureStartUp({ rounds, memoryRounds: 5, peers, onProgress });
  onProgress("10,000 polls");
  const steady = await measureSteadyState([1000, 2500, 5000, 10_000]);
  onProgress("schedules");
  const notice = await measureNotice(20_000);
  onProgress("200 processes");
  const fleet = await measureFleet();

  const report = renderReport({ rounds, startUp, steady, sizes, notice, fleet });
  process.stdout.write(`${report}\n`);
  if (isWritten) {
    mkdirSync(resolve(docs, "images"), { recursive: true });
    writeFileSync(resolve(docs, "images/notice.svg"), plotNotice(notice));
    writeFileSync(resolve(docs, "images/fleet.svg"), plotFleet(fleet));
    const page = resolve(docs, "performance.md");
    const [before = "", rest = ""] = readFileSync(page, "utf8").split(begin);
    const [, after] = rest.split(end);
    if (after === undefined) throw new Error(`${page} has no place to write to`);
    writeFileSync(page, `${before}${begin}\n\n${report}\n${end}${after}`);
  }
  if (fleet.faults.length > 0) process.exitCode = 1;
}

let options: ReturnType<typeof readOptions> | undefined;
try {
  options = readOptions();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${help}`);
  process.exitCode = 2;
}
if (options === "help") process.stdout.write(help);
else if (options) await bench(options);
