/** Faults of the sources that the simulation has to find. */
export const plantedFaults = [
  "no fencing in the store",
  "an unconditional finish",
  "no check of the owner before a push, which is forced",
  "each worker requeues everything when it starts",
  "a take that is not atomic",
  "no polling",
] as const;
export type PlantedFault = (typeof plantedFaults)[number];
