import { simulationCommand } from "./command.ts";
import { plantedFaults } from "./planted.ts";
import { findViolation } from "./property.ts";

await simulationCommand({
  script: "simulate",
  what: `Runs N histories (default: 10000) of several machines with the API and with workers, on a simulated store and a simulated Git
remote. Stops at the first history that violates an invariant: a lost turn, one that was done twice, a false answer, a hold of a
turn by two workers, a limit that was exceeded, or a wait without end.`,
  runs: 10_000,
  properties: import.meta.resolve("./property.ts"),
  plantedFaults,
  findViolation,
});
