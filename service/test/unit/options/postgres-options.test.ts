import { expect, test } from "vitest";
import { parseArguments } from "../../../src/options/arguments.ts";
import { parsePostgres, postgresOptions } from "../../../src/options/postgres-options.ts";

const parse = (...args: string[]) => parsePostgres(parseArguments(args, postgresOptions));
const url = "postgres://pooler/agents";

test("a Postgres store can have a schema, and a URL without a pooler", () => {
  expect(parse("--store=jobs.sqlite")).toBeUndefined();
  expect(parse(`--store=${url}`)).toEqual({ url, directUrl: undefined, schema: undefined });
  const directUrl = "postgresql://db/agents";
  const args = [`--store=${url}`, `--store-direct-url=${directUrl}`, "--schema=agents_2"];
  expect(parse(...args)).toEqual({ url, directUrl, schema: "agents_2" });
});

test.each([
  [["--schema=a"], "--schema requires a --store in Postgres."],
  [["--store=jobs.sqlite", `--store-direct-url=${url}`], "--store-direct-url requires a --store in Postgres."],
  [[`--store=${url}`, "--store-direct-url=db"], "--store-direct-url must be a postgres:// URL."],
  ...["", "A", "a-b", "1a", "a b", 'a"', "pg_a", "a".repeat(41)].map((name) => [
    [`--store=${url}`, `--schema=${name}`],
    "--schema must have at most 40 of a-z, 0-9 and _, begin with a letter or _, and not with pg_.",
  ]),
  ...["public", "information_schema", "a_queue"].map((name) => [
    [`--store=${url}`, `--schema=${name}`],
    "--schema must not be public or information_schema, and not end with _queue.",
  ]),
] as [string[], string][])("says what is wrong with %j", (args, reason) => {
  expect(() => parse(...args)).toThrow(reason);
});
