/** Ids of a service without a store of its own are times, to be distinct from those of others. */
const largestCount = 1_000_000_000;

/** Names a turn in a log. A number that counts turns is also what pages and commands take; one that is a time helps nobody. */
export function turnName(id: number): string {
  return id > largestCount ? "the turn" : `turn ${id}`;
}
