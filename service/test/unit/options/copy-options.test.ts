import { expect, test } from "vitest";
import { parseCopyOptions } from "../../../src/options/copy-options.ts";

test("parses a backup or an export, and no other command line", () => {
  const backup = { store: "a", target: { file: "b" } };
  expect(parseCopyOptions(["--store", "a", "--backup", "b"])).toEqual(backup);
  expect(parseCopyOptions(["--backup=b", "--store=a"])).toEqual(backup);
  const url = "postgresql:///agents";
  for (const target of [{ url }, { url: "postgres://host/agents" }])
    expect(parseCopyOptions(["--export", target.url, "--store", "a"])).toEqual({ store: "a", target });
  const schema = ["--export", url, "--store", "a", "--schema", "staging"];
  expect(parseCopyOptions(schema)).toEqual({ store: "a", target: { url, schema: "staging" } });
  const store = "of-postgres:5432.sqlite";
  expect(parseCopyOptions(["--backup=b", `--store=${store}`])).toEqual({ store, target: { file: "b" } });
  expect(parseCopyOptions(["--store", "a", "--repository", "docs"])).toBeUndefined();
  expect(parseCopyOptions(["--store", "a--backup"])).toBeUndefined();
});

test.each([
  [["--backup", "b"], /--backup requires a file/],
  [["--backup", "--store", "a"], /--backup/],
  [["--backup=", "--store=a"], /--backup requires a file/],
  [["--backup=b", "--store=a", "--agents=2"], /--agents/],
  [["--backup=b", "--store=postgres://host/db"], /Use pg_dump/],
  [["--backup=b", "--store=postgresql://host/db"], /Use pg_dump/],
  [["--export=b", "--store=a"], /--export requires a postgres:/],
  [["--export=of-postgres://host/db", "--store=a"], /--export requires a postgres:/],
  [["--export=postgres://host/db"], /--export requires a postgres:/],
  [["--export=postgres://host/db", "--backup=b", "--store=a"], /together/],
])("says what is wrong with %j", (args, reason) => {
  expect(parseCopyOptions(args)).toEqual({ error: expect.stringMatching(reason) });
});
