import type { Transaction } from "./sql.ts";

/** Returns the id of a new turn, which is greater than the ids of all earlier turns of its job. */
export type NextTurnId = (transaction: Transaction) => Promise<number>;

/** Counts. Not for several processes. */
export const countTurnIds: NextTurnId = async (transaction) =>
  ((await transaction.row<{ last: number | null }>("SELECT max(id) AS last FROM turn"))?.last ?? 0) + 1;
