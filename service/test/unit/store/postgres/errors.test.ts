import { DatabaseError } from "pg";
import { expect, test } from "vitest";
import { isAnswer, isAway, isUnavailable, isUnwritable } from "../../../../src/store/postgres/errors.ts";

/** An error of the server, with an SQLSTATE code of "PostgreSQL Error Codes". */
function serverError(code: string | undefined): DatabaseError {
  return Object.assign(new DatabaseError("no", 2, "error"), { code });
}

test.each([
  ["connection_failure", "08006"],
  ["serialization_failure", "40001"],
  ["deadlock_detected", "40P01"],
  ["out_of_memory", "53200"],
  ["too_many_connections", "53300"],
  ["admin_shutdown", "57P01"],
  ["query_canceled", "57014"],
  ["idle_in_transaction_session_timeout", "25P03"],
  ["transaction_timeout", "25P04"],
  ["invalid_password", "28P01"],
  ["invalid_catalog_name", "3D000"],
])("%s is an outage, also for reads", (_name, code) => {
  expect(isUnavailable(serverError(code))).toBe(true);
  expect(isUnwritable(serverError(code))).toBe(false);
});

test.each([
  ["disk_full", "53100"],
  ["io_error", "58030"],
  ["read_only_sql_transaction", "25006"],
])("%s is an outage of changes", (_name, code) => {
  expect(isUnavailable(serverError(code))).toBe(true);
  expect(isUnwritable(serverError(code))).toBe(true);
});

test.each([
  ["unique_violation", "23505"],
  ["syntax_error", "42601"],
  ["undefined_table", "42P01"],
  ["in_failed_sql_transaction", "25P02"],
  ["a code with that of an outage in it", "22008"],
  ["a code with that of a full disk at its end", "P5310"],
  ["a code with that of an error of the disk in it", "22580"],
  ["an error without a code", undefined],
])("%s is a wrong statement and no outage", (_name, code) => {
  expect(isUnavailable(serverError(code))).toBe(false);
  expect(isUnwritable(serverError(code))).toBe(false);
});

test("an error that is not the server's is one of the connection", () => {
  const error = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  expect(isUnavailable(error)).toBe(true);
  expect(isUnwritable(error)).toBe(false);
  expect(isUnwritable(Object.assign(new Error("no space"), { code: "53100" }))).toBe(false);
});

test.each([
  ["unique_violation", "23505", true],
  ["disk_full", "53100", true],
  ["serialization_failure", "40001", true],
  ["protocol_violation, as of a pooler that has lost its server", "08P01", false],
  ["admin_shutdown", "57P01", false],
  ["system_error", "58000", false],
  ["internal_error", "XX000", false],
])("%s: whether nothing was changed is clear", (_name, code, expected) => {
  expect(isAnswer(serverError(code))).toBe(expected);
});

/** An answer of a server, as a store that cannot be opened has it. */
function answer(code: string, message = "no"): Error {
  const cause = Object.assign(serverError(code), { message });
  return new Error("cannot open the Postgres store", { cause });
}

const ofSystem = (code: string): Error => Object.assign(new Error(code), { code });

test.each([
  { what: "nothing listens", error: ofSystem("ECONNREFUSED") },
  { what: "the resolver is away", error: ofSystem("EAI_AGAIN") },
  { what: "the connection ended", error: new Error("Connection terminated unexpectedly") },
  { what: "nothing answered in time", error: new Error("timeout expired") },
  { what: "all places are taken", error: answer("53300") },
  { what: "the server is starting", error: answer("57P03") },
  { what: "the server is a standby", error: answer("25006") },
  { what: "a pooler has lost its server", error: answer("08P01", "server_login_retry") },
])("a start waits if $what", ({ error }) => {
  expect(isAway(error)).toBe(true);
});

test.each([
  { what: "the password is wrong", error: answer("28P01") },
  { what: "a right is missing", error: answer("42501") },
  { what: "there is no such database", error: answer("3D000") },
  { what: "there is no such host", error: ofSystem("ENOTFOUND") },
  { what: "a pooler knows no such database", error: answer("08P01", "no such database: agents") },
  { what: "the certificate is not trusted", error: ofSystem("SELF_SIGNED_CERT_IN_CHAIN") },
  { what: "the tables are of another version", error: new Error("its schema agent_jobs has version 0") },
])("a start ends if $what", ({ error }) => {
  expect(isAway(error)).toBe(false);
});
