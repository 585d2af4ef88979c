import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { errorMessage } from "../service/src/error-message.ts";
import { measureFleet } from "./fleet.ts";
import { measureLateness } from "./lateness.ts";
import { plotFleet, plotLateness } from "./plot.ts";
import { defaultReference, extractReference } from "./reference.ts";
import { renderPage, renderReport } from "./report.ts";
import { scratchFolder } from "./scratch.ts";
import { measureSize } from "./size.ts";
import { measureStartUp, type Peer } from "./start-up.ts";
import { measureSteadyState } from "./steady.ts";

const help = `Usage: npm run bench -- [options]

Measures the action in dist: start-up, memory, size, lateness of polls and load on the service. Prints the tables, and
writes them and their plots to bench/results.md. Takes about four minutes.

  --peer NAME=FILE   also measure the main file of another action, which exits early without inputs; may be repeated
  --against REF      also measure the bundle that is committed at REF (default: the last release, or a fixed commit
                     as long as there is none)
  --rounds N         rounds of the start-up measurement (default: 40)
  --note TEXT        a sentence about the machine for the page, such as that it was shared
  --no-write         print only
  --help             show this help
`;

const folder = import.meta.dirname;

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
  onProgress("schedules");
  const lateness = await measureLateness(20_000);
  onProgress("200 processes");
  const fleet = await measureFleet();

  const report = renderReport({ note, rounds, startUp, steady, sizes, lateness, fleet });
  process.stdout.write(`${report}\n`);
  if (write) {
    mkdirSync(resolve(folder, "images"), { recursive: true });
    writeFileSync(resolve(folder, "images/lateness.svg"), plotLateness(lateness));
    writeFileSync(resolve(folder, "images/fleet.svg"), plotFleet(fleet));
    writeFileSync(resolve(folder, "results.md"), renderPage(report));
  }
  if (fleet.errors.length > 0) process.exitCode = 1;
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
