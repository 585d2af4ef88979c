import { expect, test } from "vitest";
import { parseArguments } from "../../../src/options/arguments.ts";
import { parseStore } from "../../../src/options/store-place.ts";

const parse = (...args: string[]) => parseStore(parseArguments(args, ["store", "schema"]));
const url = "postgres://pooler/agents";

test("a Postgres store can have a schema, and a URL without a pooler", () => {
  expect(parse()).toBeUndefined();
  expect(parse("--store=jobs.sqlite")).toEqual({ file: "jobs.sqlite" });
  expect(parse(`--store=${url}`)).toEqual({ url, directUrl: undefined, schema: undefined });
  const directUrl = "postgresql://db/agents";
  const args = [`--store=${url}`, `--store=${directUrl}`, "--schema=agents_2"];
  expect(parse(...args)).toEqual({ url, directUrl, schema: "agents_2" });
});

test.each([
  [["--schema=a"], "--schema requires a --store in Postgres."],
  [["--store=jobs.sqlite", "--schema=a"], "--schema requires a --store in Postgres."],
  [["--store="], "--store is empty."],
  [["--store=jobs.sqlite", `--store=${url}`], "--store can be given twice only for Postgres."],
  [[`--store=${url}`, "--store=db"], "The second --store must be a postgres:// URL."],
  [[`--store=${url}`, `--store=${url}`, `--store=${url}`], "--store can be given at most twice."],
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
