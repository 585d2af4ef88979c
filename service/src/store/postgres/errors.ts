import { DatabaseError } from "pg";

/**
 * SQLSTATE classes and codes of errors that are not the statement's fault: lost connections, rollbacks because of other transactions,
 * missing resources, an operator's intervention and errors of the disk; a read-only server; a transaction that was ended because this
 * process left it idle; and a server that rejects the service's password or has lost its database. Postgres: "PostgreSQL Error Codes".
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

/** What the system and `pg` say of a server that is not there now, or has left. */
const connectionCodes =
  /^(?:ECONN(?:REFUSED|RESET|ABORTED)|ETIMEDOUT|EPIPE|E(?:HOST|NET)(?:UNREACH|DOWN)|EAI_AGAIN|ENOENT)$/;
const connectionLost = /^(?:Connection terminated|timeout e)/;

/** Which of these errors of a server or a pooler time mends: not a password, a right, a name, or a database that was dropped. */
const passing = /^(?:08|40|53|57(?!P04)|58|25006)/;

/** What PgBouncer says with the code of a broken connection, although only its operator can change it. */
const poolerSettings = /statement pooling|no such (?:database|user)|authentication failed|not allowed|unsupported/i;

/** Returns whether a server that could not be used is only away, so that whoever starts can wait for it. Looks into the causes. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseError) return passing.test(error.code ?? "") && !poolerSettings.test(error.message);
  if (error.cause !== undefined) return isAway(error.cause);
  return connectionCodes.test(String((error as NodeJS.ErrnoException).code)) || connectionLost.test(error.message);
}
