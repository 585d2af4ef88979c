import { parseArgs } from "node:util";
import { plant } from "./plant.ts";
import type { PlantedFault } from "./planted.ts";
import type { SimulationOptions } from "./property.ts";

/** A simulation that is started by a command. */
export interface SimulationCommand {
  /** Its name in `package.json`. */
  script: string;
  /** What it does, and what it looks for. */
  what: string;
  /** How many histories it runs. */
  runs: number;
  /** The URL of the module with its property. */
  properties: string;
  plantedFaults: readonly PlantedFault[];
  findViolation: (options: SimulationOptions) => Promise<string | undefined>;
}

/** Runs the command of a simulation. */
export async function simulationCommand({ script, what, runs: count, properties, ...simulation }: SimulationCommand) {
  const { plantedFaults, findViolation } = simulation;
  const help = `Usage: npm run ${script} -- [--runs N] [--seed N] [--path PATH] [--plant FAULT ...|all]

${what} A failure prints the seed and path that reproduce it.

--plant, which can be repeated, makes these mistakes one after the other, and says after how many histories each is found:
${plantedFaults.map(({ name }) => `  ${name}\n`).join("")}`;
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: String(count) },
      seed: { type: "string" },
      path: { type: "string" },
      plant: { type: "string", multiple: true },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return;
  }
  const seed = values.seed === undefined ? Date.now() % 2 ** 31 : Number(values.seed);
  const runs = Number(values.runs);
  if (!Number.isInteger(seed) || !(runs > 0)) throw new Error("--runs and --seed must be whole numbers");
  if (values.plant === undefined) {
    const startedAt = performance.now();
    const violation = await findViolation({ runs, seed, path: values.path });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(
      violation ?? `${runs.toLocaleString("en-US")} runs from seed ${seed} in ${seconds} s: no invariant was violated`,
    );
    process.exitCode = violation ? 1 : 0;
    return;
  }
  const { plant: names } = values;
  const planted = plantedFaults.filter(({ name }) => names.includes("all") || names.includes(name));
  if (planted.length < names.length)
    throw new Error(`--plant must be all, or one of: ${plantedFaults.map(({ name }) => name).join("; ")}`);
  for (const fault of planted) {
    const { countHistories } = await plant(fault, properties);
    const found = await countHistories({ runs, seed });
    console.log(
      `${fault.name}: ${found === undefined ? "not found" : `found after ${found.runs} runs: ${found.violation}`}`,
    );
  }
}
