import { DatabaseError } from "pg";

/**
 * SQLSTATE classes and codes of errors that are not the statement's fault: lost connections, rollbacks because of other
 * transactions, missing resources, an operator's intervention and errors of the disk; a server that only reads; a transaction
 * that was ended because this process did not go on with it; and a server that does not let the service in any more.
 * Postgres: "PostgreSQL Error Codes".
 */
const unavailable = /^(08|40|53|57|58|25006|25P0[34]|28|3D)/;

/** Of those, the ones that only changes get: a full disk, an error of the disk and a server that only reads. */
const unwritable = /^(53100|58|25006)/;

/** Returns whether an error of the client says that the server cannot be used now, and not that a statement is wrong. */
export function isUnavailable(error: unknown): boolean {
  // Only the server's own errors have a class of their own: all others are of the connection.
  return !(error instanceof DatabaseError) || unavailable.test(error.code ?? "");
}

/** Returns whether such an error can be that of a server that can still be read. */
export function isUnwritable(error: unknown): boolean {
  return error instanceof DatabaseError && unwritable.test(error.code ?? "");
}
