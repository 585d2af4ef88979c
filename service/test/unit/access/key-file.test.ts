import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { formatKeys, readKeyFile, type StoredKey } from "../../../src/access/key-file.ts";

const key: StoredKey = {
  name: "ci",
  sha256: "a".repeat(64),
  projects: ["docs"],
  created: "2026-01-31T00:00:00Z",
  expires: "2027-01-31T00:00:00Z",
};
const other: StoredKey = { name: "ops", sha256: "b".repeat(64), projects: "all", created: "2026-01-31T00:00:00Z" };

function write(text: string, mode = 0o600): string {
  const file = join(temporaryFolder(), "keys.json");
  writeFileSync(file, text, { mode });
  chmodSync(file, mode);
  return file;
}

test("reads the keys that were written", async () => {
  expect((await readKeyFile(write(formatKeys([key, other])))).keys).toEqual([key, other]);
  expect((await readKeyFile(write(formatKeys([])))).keys).toEqual([]);
});

describe("rejects", () => {
  const file = (...keys: unknown[]) => JSON.stringify({ version: 1, keys });
  test.each([
    ["what is not JSON", "{", /^FILE is not JSON: /],
    ["another version", '{"version":2,"keys":[]}', "FILE is not a file of keys: version must be 1"],
    ["a list", "[]", "FILE is not a file of keys: the file must be object"],
    ["an unsafe name", file({ ...key, name: "c i" }), /: keys\[0\]\.name must be up to 64 letters, digits/],
    ["the name of no key", file(other, { ...key, name: "" }), /: keys\[1\]\.name must be up to 64/],
    ["a long name", file({ ...key, name: "a".repeat(65) }), /: keys\[0\]\.name must be up to 64/],
    ["a key in place of its hash", file({ ...key, sha256: "mint_1" }), /sha256 must be 64 hexadecimal digits$/],
    ["a hash that is too long", file({ ...key, sha256: `${key.sha256}a` }), /sha256 must be 64 hexadecimal digits$/],
    ["a hash after something", file({ ...key, sha256: `x${key.sha256}` }), /sha256 must be 64 hexadecimal digits$/],
    ["a key without projects", file({ ...key, projects: [] }), /projects must be "all" or a list of projects$/],
    [
      "a misspelled field",
      file({ ...key, expire: "" }),
      "FILE is not a file of keys: keys[0] has an unknown field: expire",
    ],
    [
      "a missing hash",
      file({ ...key, sha256: undefined }),
      "FILE is not a file of keys: keys[0].sha256 must be string",
    ],
    ["a date that is no time", file({ ...key, expires: "tomorrow" }), /expires must be a time, such as 2026/],
    ["two keys of one name", file(key, { ...other, name: "ci" }), "FILE has two keys with the name of ci"],
    ["one key with two names", file(key, { ...other, sha256: key.sha256 }), "FILE has two keys with the sha256 of ops"],
    ["a huge file", " ".repeat(1_000_001), "FILE has more than 1000000 bytes"],
  ])("%s", async (_name, text, message) => {
    const path = write(text);
    const error = await readKeyFile(path).then(
      () => "read",
      (reason: Error) => reason.message.replace(path, "FILE"),
    );
    expect(error).toEqual(typeof message === "string" ? message : expect.stringMatching(message));
  });
});

test.each([
  ["the group", 0o620],
  ["everyone", 0o602],
])("rejects a file that %s can write", async (_who, mode) => {
  const file = write(formatKeys([key]), mode);
  await expect(readKeyFile(file)).rejects.toThrow(`${file} can be written by others. Run: chmod go-w ${file}`);
});

test("accepts a file that others can read, as Kubernetes mounts a secret", async () => {
  expect((await readKeyFile(write(formatKeys([key]), 0o644))).keys).toEqual([key]);
});

test.skipIf(process.platform === "win32")("rejects a pipe instead of waiting for someone to write to it", async () => {
  const pipe = join(temporaryFolder(), "keys");
  execFileSync("mkfifo", ["-m", "600", pipe]);
  await expect(readKeyFile(pipe)).rejects.toThrow(`${pipe} is not a file`);
});
