import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { removeFolder, runHostileTrees } from "./run.ts";

const help = `Usage: npm run hostile-trees -- [--count N] [--seed S]

Runs N turns (default: 1000) whose agents leave trees that are drawn from a seed: names as bytes, pipes, sockets, devices, deep
folders, loops of links, repositories within, and patterns that take Git exponential time. Each turn has to end within its limit,
and the service has to answer all the while. --count 1 --seed S runs one tree again. Linux only, about 10 minutes.
`;

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "1000" },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else {
  const count = Number(values.count);
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
  if (!Number.isInteger(count) || !(count > 0) || !Number.isInteger(seed))
    throw new Error("--count and --seed must be numbers");
  const folder = mkdtempSync(join(tmpdir(), "hostile-trees-"));
  console.log(`${count} trees from seed ${seed}`);
  const { wrong, ...numbers } = await runHostileTrees({ count, seed, folder, log: (line) => console.log(line) });
  for (const [what, number] of Object.entries(numbers)) console.log(`${what}: ${Math.round(number)}`);
  for (const text of wrong) console.log(`WRONG: ${text}`);
  console.log(wrong.length === 0 ? "Nothing is wrong." : `${wrong.length} things are wrong; the folder is ${folder}`);
  if (wrong.length === 0) removeFolder(folder);
  process.exit(wrong.length === 0 ? 0 : 1);
}
