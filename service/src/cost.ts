/** Stands for the cost of a turn of which at least one agent has not said, or not yet, what it cost. */
export const unknownCost = -1;

/** In US dollars. What an agent says beyond that is a mistake. */
const highestCost = 1000;

/** Returns a cost in US dollars, rounded to a billionth; `undefined` if it is unknown, or not one that an agent can have. */
export function knownCost(costUsd: unknown): number | undefined {
  if (typeof costUsd !== "number" || !(costUsd >= 0 && costUsd <= highestCost)) return undefined;
  return Math.round(costUsd * 1e9) / 1e9;
}

/** Returns a cost in US dollars for people; `undefined` if it is unknown. */
export function dollars(costUsd: unknown): string | undefined {
  const cost = knownCost(costUsd);
  if (cost === undefined) return undefined;
  if (cost > 0 && cost < 0.0001) return "less than $0.0001";
  return `$${cost.toFixed(cost > 0 && cost < 1 ? 4 : 2)}`;
}
