import type { PlantedFault } from "../planted.ts";

/** Mistakes in the sources, each of which the simulation of the one-step mode has to find. */
export const plantedFaults: readonly PlantedFault[] = [];
