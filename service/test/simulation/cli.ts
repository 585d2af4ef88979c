import { parseArgs } from "node:util";
import { plant } from "./plant.ts";
import { plantedFaults } from "./planted.ts";
import { findViolation } from "./property.ts";

const help = `Usage: npm run simulate -- [--runs N] [--seed N] [--path PATH] [--plant FAULT ...|all]

Runs N histories (default: 10000) of several machines with the API and with workers, on a simulated store and a simulated Git
remote. Stops at the first history that violates an invariant: a lost turn, one that was done twice, a false answer, a hold of a
turn by two workers, a limit that was exceeded, or a wait without end. A failure prints the seed and path that reproduce it.

--plant, which can be repeated, makes these mistakes one after the other, and says after how many histories each is found:
${plantedFaults.map(({ name }) => `  ${name}\n`).join("")}`;

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    seed: { type: "string" },
    path: { type: "string" },
    plant: { type: "string", multiple: true },
    help: { type: "boolean", default: false },
  },
});

if (values.help) process.stdout.write(help);
else {
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
  } else {
    const { plant: names } = values;
    const planted = plantedFaults.filter(({ name }) => names.includes("all") || names.includes(name));
    if (planted.length < names.length)
      throw new Error(`--plant must be all, or one of: ${plantedFaults.map(({ name }) => name).join("; ")}`);
    for (const fault of planted) {
      const { countHistories } = await plant(fault);
      const found = await countHistories({ runs, seed });
      console.log(
        `${fault.name}: ${found === undefined ? "not found" : `found after ${found.runs} runs: ${found.violation}`}`,
      );
    }
  }
}
