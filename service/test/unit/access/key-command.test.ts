import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { editKeyFile } from "../../../src/access/edit-key-file.ts";
import { runKeyCommand } from "../../../src/access/run-key-command.ts";
import { hashKey } from "../../../src/http/authentication.ts";
import { parseCommandLine } from "../../../src/options/command-line.ts";
import { keyFile, start } from "../../support/key-file.ts";

const parse = (line: string) => {
  const command = parseCommandLine(line.split(" "), {});
  return command.kind === "keys" ? command.command : command;
};
const dayMs = 86_400_000;

test("parses commands for keys", () => {
  expect(parse("key add ci --keys k.json")).toEqual({
    command: "add",
    file: "k.json",
    name: "ci",
    projects: "all",
    scope: undefined,
    expiresDays: undefined,
  });
  expect(parse("key add ci --keys k.json --scope read")).toMatchObject({ projects: "all", scope: "read" });
  expect(parse("key add ci.1_x --keys k.json --project a --project b --expires-days 90")).toMatchObject({
    name: "ci.1_x",
    projects: ["a", "b"],
    expiresDays: 90,
  });
  for (const expiresDays of [1, 3650])
    expect(parse(`key add ci --keys k.json --expires-days ${expiresDays}`)).toMatchObject({ expiresDays });
  expect(parse("key list --keys k.json")).toEqual({ command: "list", file: "k.json" });
  expect(parse("key revoke ci --keys k.json")).toEqual({ command: "revoke", file: "k.json", name: "ci" });
});

test.each([
  ["key", "key requires --keys FILE."],
  ["key --keys k.json", "key must be followed by add, list or revoke."],
  ["key remove ci --keys k.json", "key must be followed by add, list or revoke."],
  ["key list ci --keys k.json", "key must be followed by add, list or revoke."],
  ["key add --keys k.json", 'key add requires a name of up to 64 letters, digits, ".", "_" and "-".'],
  ["key revoke --keys k.json", 'key revoke requires a name of up to 64 letters, digits, ".", "_" and "-".'],
  ["key add -- --keys k.json", "key add takes one name."],
  ["key add ../ci --keys k.json", 'key add requires a name of up to 64 letters, digits, ".", "_" and "-".'],
  ["key add ci site --keys k.json", "key add takes one name."],
  ["key revoke ci --project a --keys k.json", "--project, --scope and --expires-days are options of key add."],
  ["key list --expires-days 1 --keys k.json", "--project, --scope and --expires-days are options of key add."],
  ["key revoke ci --scope read --keys k.json", "--project, --scope and --expires-days are options of key add."],
  ["key add ci --scope write --keys k.json", "--scope must be read."],
  ["key add ci --expires-days 0 --keys k.json", "--expires-days must be an integer from 1 to 3650."],
  ["key add ci --expires-days 3651 --keys k.json", "--expires-days must be an integer from 1 to 3650."],
  ["key add ci --expires-days 1.5 --keys k.json", "--expires-days must be an integer from 1 to 3650."],
])("rejects %s", (line, error) => {
  expect(parse(line)).toEqual({ kind: "invalid", error });
});

test("prints a new key once, and writes only its hash, for its user only", async () => {
  const { file } = keyFile();
  const options = { command: "add", file, name: "ci", projects: ["docs", "site"], expiresDays: 90 } as const;
  const { text, note } = await runKeyCommand({ ...options, projects: [...options.projects] }, start);
  expect(text).toMatch(/^mint_[0-9a-f]{48}\n$/);
  expect(note).toBe("Added ci for docs, site, until 2026-05-30. The key is not shown again.\n");
  expect(readFileSync(file, "utf8")).not.toContain(text.trim());
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    version: 1,
    keys: [
      {
        name: "ci",
        sha256: hashKey(text.trim()),
        projects: ["docs", "site"],
        created: "2026-03-01T00:00:00Z",
        expires: "2026-05-30T00:00:00Z",
      },
    ],
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(file))).toEqual(["keys.json"]);
});

test("lists keys with the beginning of their hashes, and which have expired", async () => {
  const { add, list } = keyFile();
  const hashes = [await add("ci", ["docs"], 1), await add("operator")].map((key) => hashKey(key).slice(0, 8));
  expect(await list(start + dayMs - 1)).toBe(
    [
      "name      projects      created     expires     sha256",
      `ci        docs          2026-03-01  2026-03-02  ${hashes[0]}`,
      `operator  all projects  2026-03-01  never       ${hashes[1]}`,
      "",
    ].join("\n"),
  );
  expect(await list(start + dayMs)).toContain(`docs          2026-03-01  2026-03-02 (expired)  ${hashes[0]}`);
});

test("revokes a key, so that its name is free", async () => {
  const { add, revoke, list } = keyFile();
  const first = await add("ci");
  await add("ops");
  await expect(add("ci")).rejects.toThrow(/already has a key ci\. Revoke it first, or choose another name$/);
  await revoke("ci");
  expect(await list()).not.toContain("ci");
  await expect(revoke("ci")).rejects.toThrow(/has no key ci$/);
  expect(await add("ci")).not.toBe(first);
});

test("does not create a file to list or revoke keys", async () => {
  const { file, list, revoke } = keyFile();
  await expect(list()).rejects.toThrow("ENOENT");
  await expect(revoke("ci")).rejects.toThrow(`${file} does not exist`);
  expect(readdirSync(dirname(file))).toEqual([]);
});

test("changes nothing that it cannot read", async () => {
  const { file, add } = keyFile();
  writeFileSync(file, "{}", { mode: 0o600 });
  await expect(add("ci")).rejects.toThrow("is not a file of keys");
  expect(readFileSync(file, "utf8")).toBe("{}");
  expect(readdirSync(dirname(file))).toEqual(["keys.json"]);
});

test("lets one command at a time change the file, and loses no key", async () => {
  const { file, add, list } = keyFile();
  await add("first");
  const results = await Promise.allSettled(["a", "b", "c", "d"].map((name) => add(name)));
  const added = ["a", "b", "c", "d"].filter((_name, index) => results[index]?.status === "fulfilled");
  expect(added.length).toBeGreaterThan(0);
  const listed = (await list())
    .split("\n")
    .slice(1, -1)
    .map((line) => line.split(" ")[0]);
  expect(listed.sort()).toEqual([...added, "first"].sort());
  for (const result of results)
    if (result.status === "rejected") expect(String(result.reason)).toContain("another command is changing the keys");
  expect(existsSync(`${file}.lock`)).toBe(false);
});

test("says what to do about the lock of a command that was killed", async () => {
  const { file, add } = keyFile();
  writeFileSync(`${file}.lock`, "");
  await expect(add("ci")).rejects.toThrow(
    `${file}.lock exists: another command is changing the keys. If none is running, one was killed: remove it`,
  );
  expect(existsSync(`${file}.lock`)).toBe(true);
});

test("does not create a folder", async () => {
  const { file } = keyFile();
  const inMissing = join(dirname(file), "missing", "keys.json");
  const adding = runKeyCommand({ command: "add", file: inMissing, name: "ci", projects: "all", expiresDays: 1 }, start);
  await expect(adding).rejects.toThrow("ENOENT");
});

test("keeps the mode of the file, and the link to it", async () => {
  const { file, add, list } = keyFile();
  await add("ci");
  chmodSync(file, 0o640);
  const link = join(dirname(file), "link.json");
  symlinkSync(file, link);
  await editKeyFile(link, (keys) => keys.map((key) => ({ ...key, name: "renamed" })));
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o640);
  expect(await list()).toContain("renamed");
});

test.runIf(process.getuid?.() === 0)("keeps the owner of the file, for a service of another user", async () => {
  const { file, add } = keyFile();
  await add("ci");
  chownSync(file, 1234, 2345);
  await add("ops");
  expect(statSync(file)).toMatchObject({ uid: 1234, gid: 2345 });
});
