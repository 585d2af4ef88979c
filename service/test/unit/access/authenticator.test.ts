import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { type AccessOptions, openAuthenticator } from "../../../src/access/open-authenticator.ts";
import { defaultIssuer, parseTrustRule } from "../../../src/access/trust-rule.ts";
import { singleKey } from "../../../src/http/authentication.ts";
import { FakeMachine } from "../../support/fake-machine.ts";
import { keyFile, start } from "../../support/key-file.ts";

const dayMs = 86_400_000;
const invalid = { status: 401, message: "Invalid API key", headers: { "www-authenticate": "Bearer" } };

/** Opens an authenticator for the projects `docs` and `site`, with a clock that only tests move. */
async function open(options: Partial<AccessOptions>) {
  const machine = new FakeMachine(start);
  const log: string[] = [];
  const authenticator = await openAuthenticator({
    apiKey: undefined,
    keys: undefined,
    trust: [],
    trustIssuer: defaultIssuer,
    projects: ["docs", "site"],
    baseUrl: () => "https://agents.example.com",
    machine,
    log: (line) => void log.push(line),
    ...options,
  });
  return { authenticator, machine, log };
}

test("gives each key its projects, and the one of the environment all of them", async () => {
  const { file, add } = keyFile();
  const [docs, all, elsewhere] = [await add("docs", ["docs"]), await add("all"), await add("elsewhere", ["gone"])];
  const { authenticator, log } = await open({ keys: file, apiKey: "mint_environment" });
  expect(await authenticator.authenticate(docs)).toMatchObject({ name: "docs", projects: ["docs"] });
  expect(await authenticator.authenticate(all)).toMatchObject({ name: "all", projects: ["docs", "site"] });
  expect(await authenticator.authenticate(elsewhere)).toMatchObject({ projects: [] });
  expect(await authenticator.authenticate("mint_environment")).toMatchObject({
    name: "API key",
    projects: ["docs", "site"],
  });
  expect(log[0]).toBe("The API key elsewhere is for projects that this service does not have: gone");
});

test("says of a key and its sessions that they only read", async () => {
  const { file, add, list } = keyFile();
  const [reader, writer] = [await add("reader", ["docs"], undefined, "read"), await add("writer")];
  expect(await list()).toMatch(/^reader +docs \(only reads\) +2026-03-01/m);
  const { authenticator } = await open({ keys: file });
  const access = await authenticator.authenticate(reader);
  expect(access).toMatchObject({ name: "reader", projects: ["docs"], isReadOnly: true });
  expect(await authenticator.accessOf(access.signInAs ?? "")).toEqual(access);
  expect(await authenticator.authenticate(writer)).not.toHaveProperty("isReadOnly");
});

test("rejects every other key, and hashes of keys", async () => {
  const { file, add } = keyFile();
  const key = await add("ci");
  const { authenticator, log } = await open({ keys: file });
  const { sha256 } = (JSON.parse(readFileSync(file, "utf8")) as { keys: [{ sha256: string }] }).keys[0];
  for (const wrong of [
    "mint_wrong",
    "mint_eyJh.eyJp.c2ln",
    "eyJh.eyJp.c2ln.bW9y.ZQ",
    key.slice(0, -1),
    `${key}0`,
    "ci",
    sha256,
    "API key",
  ])
    await expect(authenticator.authenticate(wrong)).rejects.toMatchObject(invalid);
  await expect(authenticator.authenticate(undefined)).rejects.toMatchObject({ message: "Missing API key" });
  await expect(authenticator.authenticate("")).rejects.toMatchObject({ message: "Missing API key" });
  await expect(authenticator.authenticate("mint_us_1")).rejects.toMatchObject({
    message: "This endpoint needs an admin API key",
  });
  const message = "This service accepts no tokens of workflows";
  await expect(authenticator.authenticate("eyJh.eyJp.c2ln")).rejects.toMatchObject({ status: 401, message });
  await expect(singleKey(key, []).authenticate("eyJh.eyJp.c2ln")).rejects.toMatchObject({ status: 401, message });
  expect(log).toEqual([]);
});

test("accepts keys that look like tokens, and rejects other texts, without asking the issuer", async () => {
  const trust = [parseTrustRule("acme/docs")];
  const { authenticator } = await open({ apiKey: "eyJh.eyJp.c2ln", trust });
  expect(await authenticator.authenticate("eyJh.eyJp.c2ln")).toMatchObject({ name: "API key" });
  await expect(authenticator.authenticate("mint_wrong")).rejects.toMatchObject(invalid);
  await expect(authenticator.authenticate("eyJh.eyJp.other")).rejects.toMatchObject({
    message: "The token is malformed",
  });
});

test("ends a key and its sessions when it expires, and says so only to who has it", async () => {
  const { file, add } = keyFile();
  const key = await add("ci", "all", 30);
  const { authenticator, machine } = await open({ keys: file });
  const { signInAs = "" } = await authenticator.authenticate(key);
  machine.pass(30 * dayMs - 1);
  expect(await authenticator.authenticate(key)).toMatchObject({ name: "ci" });
  expect(await authenticator.accessOf(signInAs)).toMatchObject({ name: "ci", projects: ["docs", "site"] });
  machine.pass(1);
  const message = "The API key ci expired on 2026-03-31";
  await expect(authenticator.authenticate(key)).rejects.toMatchObject({ status: 401, message });
  expect(await authenticator.accessOf(signInAs)).toBeUndefined();
});

test("ends the sessions of a revoked key, also if its name gets another key", async () => {
  const { file, add, revoke } = keyFile();
  const key = await add("ci");
  const { authenticator, machine } = await open({ keys: file, apiKey: "mint_environment" });
  const { signInAs = "" } = await authenticator.authenticate(key);
  await revoke("ci");
  const next = await add("ci");
  machine.pass(1000);
  await expect(authenticator.authenticate(key)).rejects.toMatchObject(invalid);
  expect(await authenticator.accessOf(signInAs)).toBeUndefined();
  expect(await authenticator.accessOf((await authenticator.authenticate(next)).signInAs ?? "")).toBeDefined();
});

test("knows the sessions of the key of the environment until it changes", async () => {
  const { signInAs = "" } = await singleKey("mint_1", ["docs"]).authenticate("mint_1");
  for (const options of [{}, { trust: [parseTrustRule("acme/docs")] }]) {
    expect(await (await open({ apiKey: "mint_1", ...options })).authenticator.accessOf(signInAs)).toBeDefined();
    expect(await (await open({ apiKey: "mint_2", ...options })).authenticator.accessOf(signInAs)).toBeUndefined();
  }
  expect(await singleKey("mint_1", []).accessOf(signInAs)).toBeDefined();
  expect(await singleKey("mint_2", []).accessOf(signInAs)).toBeUndefined();
});

test("logs once a day that a key is in use", async () => {
  const { file, add } = keyFile();
  const key = await add("ci");
  const { authenticator, machine, log } = await open({ keys: file, apiKey: "mint_environment" });
  for (const used of [key, key, "mint_environment"]) await authenticator.authenticate(used);
  machine.pass(dayMs - 1);
  await authenticator.authenticate(key);
  expect(log).toEqual(["First request of the day by: ci", "First request of the day by: API key"]);
  machine.pass(1);
  await authenticator.authenticate(key);
  expect(log.slice(2)).toEqual(["First request of the day by: ci"]);
});

describe("reads the file again", () => {
  test("within a second after a change, and not for each request", async () => {
    const { file, add } = keyFile();
    await add("first");
    const { authenticator, machine, log } = await open({ keys: file });
    const second = await add("second");
    machine.pass(999);
    await expect(authenticator.authenticate(second)).rejects.toMatchObject(invalid);
    machine.pass(1);
    expect(await authenticator.authenticate(second)).toMatchObject({ name: "second" });
    expect(log[0]).toBe(`The API keys in ${file} were read again: 2`);
    machine.pass(1000);
    await authenticator.authenticate(second);
    expect(log).toHaveLength(2);
  });

  test("although its size and time are the same", async () => {
    const { file, add, revoke } = keyFile();
    const first = await add("ci");
    const { authenticator, machine } = await open({ keys: file });
    const at = new Date(start);
    utimesSync(file, at, at);
    await revoke("ci");
    const second = await add("ci");
    utimesSync(file, at, at);
    machine.pass(1000);
    await expect(authenticator.authenticate(first)).rejects.toMatchObject(invalid);
    expect(await authenticator.authenticate(second)).toMatchObject({ name: "ci" });
  });

  test("although the clock was set back", async () => {
    const { file, add } = keyFile();
    await add("first");
    const { authenticator, machine } = await open({ keys: file });
    const second = await add("second");
    machine.setWallTime(start - dayMs);
    machine.pass(1000);
    expect(await authenticator.authenticate(second)).toMatchObject({ name: "second" });
  });

  test("when a link is swapped, as Kubernetes does with a mounted secret", async () => {
    const [one, other] = [keyFile(), keyFile()];
    const [first, second] = [await one.add("first"), await other.add("second")];
    const folder = temporaryFolder();
    for (const [version, { file }] of [one, other].entries()) {
      mkdirSync(join(folder, `..${version}`));
      renameSync(file, join(folder, `..${version}`, "keys.json"));
    }
    symlinkSync("..0", join(folder, "..data"));
    symlinkSync("..data/keys.json", join(folder, "keys.json"));
    const { authenticator, machine } = await open({ keys: join(folder, "keys.json") });
    expect(await authenticator.authenticate(first)).toMatchObject({ name: "first" });
    symlinkSync("..1", join(folder, "..data_tmp"));
    renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
    machine.pass(1000);
    await expect(authenticator.authenticate(first)).rejects.toMatchObject(invalid);
    expect(await authenticator.authenticate(second)).toMatchObject({ name: "second" });
  });
});

describe("keeps the keys that were read last, and logs once,", () => {
  test.each([
    ["the file is broken", (file: string) => writeFileSync(file, "{"), "FILE is not JSON: "],
    ["the file is gone", (file: string) => rmSync(file), "ENOENT: no such file or directory, stat 'FILE'"],
  ])("while %s", async (_name, spoil, reason) => {
    const { file, add } = keyFile();
    const key = await add("ci");
    const content = readFileSync(file, "utf8");
    const { authenticator, machine, log } = await open({ keys: file });
    await authenticator.authenticate(key);
    spoil(file);
    for (let second = 0; second < 3; second++) {
      machine.pass(1000);
      expect(await authenticator.authenticate(key)).toMatchObject({ name: "ci" });
    }
    expect(log).toHaveLength(2);
    expect(log[1]?.replace(file, "FILE")).toContain(
      `The API keys that were read last stay valid, because of an error: ${reason}`,
    );
    writeFileSync(file, content, { mode: 0o600 });
    machine.pass(1000);
    await authenticator.authenticate(key);
    expect(log.slice(2)).toEqual([
      `The API keys in ${file} were read again: 1`,
      `The API keys in ${file} can be read again`,
    ]);
  });
});

test("does not start without the file, and says how to create it", async () => {
  const { file } = keyFile();
  await expect(open({ keys: file })).rejects.toThrow(
    `${file} does not exist. Create it with its first key: npm run service -- key add NAME --keys ${file}`,
  );
  writeFileSync(file, "{}", { mode: 0o600 });
  await expect(open({ keys: file })).rejects.toThrow("is not a file of keys");
});
