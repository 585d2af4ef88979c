import { DatabaseError } from "pg";

/**
 * SQLSTATE classes and codes of errors that are not the statement's fault: lost connections, rollbacks because of other
 * transactions, missing resources, an operator's intervention and errors of the disk; a read-only server; a transaction
 * that was ended because this process left it idle; and a server that rejects the service's password or has lost its database.
 * Postgres: "PostgreSQL Error Codes".
 */
const unavailable = /^(08|40|53|57|58|25006|25P0[34]|28|3D)/;

/** The subset that only changes run into: a full disk, an error of the disk and a read-only server. */
const unwritable = /^(53100|58|25006)/;

/** What a pooler may say of a server that it has lost: errors of the connection, the system, an operator and unknown ones. */
const unclear = /^(08|57|58|XX)/;

/** Returns whether an error is the server's answer to a statement, which has therefore changed nothing. */
export function isAnswer(error: unknown): boolean {
  return error instanceof DatabaseError && !unclear.test(error.code ?? "");
}

/** Returns whether an error means that the server cannot be used now, and not that a statement is wrong. */
export function isUnavailable(error: unknown): boolean {
  // The server's errors have a class of their own: all others are errors of the connection.
  return !(error instanceof DatabaseError) || unavailable.test(error.code ?? "");
}

/** Returns whether the server can perhaps still be read after such an error. */
export function isUnwritable(error: unknown): boolean {
  return error instanceof DatabaseError && unwritable.test(error.code ?? "");
}

/** Returns whether no connection of the pool became free in time. pg-pool has no other sign of it. */
export function isPoolFull(error: unknown): boolean {
  return error instanceof Error && error.message === "timeout exceeded when trying to connect";
}
