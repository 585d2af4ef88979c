/** Returns an identity for the turn with an id, as a store makes them at random. */
export const identityOf = (id: number): string => id.toString(16).padStart(32, "0");
