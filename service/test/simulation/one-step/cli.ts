import { simulationCommand } from "../command.ts";
import { plantedFaults } from "./planted.ts";
import { findViolation } from "./property.ts";

await simulationCommand({
  script: "simulate:step",
  what: `Lives through N histories (default: 1000) of a workflow with the input \`agent\`: runs and attempts, each on a runner of its own,
with the action, its service and its turns, on Git, GitHub and an Actions cache in memory. Stops at the first one that
violates an invariant: an agent that is paid twice, work that is lost, a false outcome, or a wait without end.`,
  runs: 1000,
  properties: import.meta.resolve("./property.ts"),
  plantedFaults,
  findViolation,
});
