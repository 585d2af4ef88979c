import { expect, test } from "vitest";
import { parseBackupOptions } from "../../../src/service/backup-options.ts";

test("parses a backup, and no other command line", () => {
  expect(parseBackupOptions(["--store", "a", "--backup", "b"])).toEqual({ store: "a", file: "b" });
  expect(parseBackupOptions(["--backup=b", "--store=a"])).toEqual({ store: "a", file: "b" });
  expect(parseBackupOptions(["--store", "a", "--repository", "docs"])).toBeUndefined();
});

test.each([
  [["--backup", "b"]],
  [["--backup", "--store", "a"]],
  [["--backup=", "--store=a"]],
  [["--backup=b", "--store=a", "--agents=2"]],
])("says what is wrong with %j", (args) => {
  expect(parseBackupOptions(args)).toEqual({ error: expect.stringMatching(/--backup|--agents/) });
});
