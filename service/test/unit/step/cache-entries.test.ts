import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { printing, scriptedCacheProcess } from "../../../../test/support/scripted-cache-process.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { connectCacheEntries } from "../../../step/memory/cache-entries.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder();
});

/** Returns the path of a file with a text. */
function file(text: string): string {
  const path = join(folder, "saved");
  writeFileSync(path, text);
  return path;
}

const token = "token_0123456789";

/** Returns a cache whose process runs a script. Its folder for temporary files is `parent`. */
function scripted(script: string, parent = join(folder, "temp")) {
  mkdirSync(parent, { recursive: true });
  const { program, runs } = scriptedCacheProcess(script);
  const environment = { ACTIONS_RUNTIME_TOKEN: token };
  const delays: number[] = [];
  const sleep = async (ms: number) => void delays.push(ms);
  const cache = connectCacheEntries({ environment, folder: parent, program, sleep });
  const restored = join(folder, "restored");
  return { cache, parent, restored, restore: () => cache.restore("jobs/a/", restored), runs, delays };
}

test("the cache process has the file in an empty folder, which is removed, and the variables of the service", async () => {
  const { cache, parent, runs } = scripted(`
    const seen = { text: fs.readFileSync(entry, "utf8"), files: fs.readdirSync("."), path: process.env.PATH };
    reply({ error: JSON.stringify({ ...seen, cwd: process.cwd() }) });`);
  const error = await cache.save("jobs/a/1", file("text")).catch(({ message }: Error) => message);
  const { cwd, ...seen } = JSON.parse(String(error));
  expect(seen).toEqual({ text: "text", files: ["agent-job-service"], path: process.env.PATH });
  expect(dirname(cwd)).toBe(realpathSync(parent));
  expect(runs()).toEqual(["cache save jobs/a/1 agent-job-service"]);
  expect(readdirSync(parent)).toEqual([]);
});

test("the cache process runs in the system's folder for temporary files if the path of its own has spaces", async () => {
  const writesItsFolder = "fs.writeFileSync(entry, process.cwd()); reply({ isDone: true });";
  const { restore, restored } = scripted(writesItsFolder, join(folder, "with space"));
  expect(await restore()).toBe(true);
  expect(dirname(readFileSync(restored, "utf8"))).toBe(realpathSync(tmpdir()));
});

test("says whether there was an entry, and whether one was saved", async () => {
  const { cache, restore, restored, runs } = scripted("reply({ isDone: false });");
  expect(await restore()).toBe(false);
  expect(existsSync(restored)).toBe(false);
  expect(runs()).toEqual(["cache restore jobs/a/ agent-job-service"]);
  await expect(cache.save("jobs/a/1", file("text"))).rejects.toThrow("the cache entry was not saved");
});

test("restores in three attempts, each with an empty folder", async () => {
  const { restore, parent, runs, delays } = scripted(`
    const files = fs.readdirSync(".").join();
    fs.writeFileSync(entry, "half");
    reply({ error: "boom " + run + files });`);
  await expect(restore()).rejects.toThrow(/^boom 3$/);
  expect(runs()).toHaveLength(3);
  expect(delays).toEqual([1000, 3000]);
  expect(readdirSync(parent)).toEqual([]);
});

test("saves in one attempt", async () => {
  const { cache, runs } = scripted('reply({ error: "boom" });');
  await expect(cache.save("jobs/a/1", file("text"))).rejects.toThrow("boom");
  expect(runs()).toHaveLength(1);
});

test.each([
  ["missing", ""],
  ["a folder", "fs.mkdirSync(entry);"],
  ["a link", 'fs.writeFileSync("x", ""); fs.symlinkSync("x", entry);'],
  ["a second name", 'fs.writeFileSync("x", ""); fs.linkSync("x", entry);'],
])("finds nothing if the restored file is %s", async (_what, script) => {
  const { restore, restored } = scripted(`${script} reply({ isDone: true });`);
  expect(await restore()).toBe(false);
  expect(existsSync(restored)).toBe(false);
});

test("does not tell the runner's token, nor what the library asks to mask", async () => {
  const address = "https://storage.example/1?sig=signature%2Bof-the-url";
  const { cache } = scripted(
    printing("::add-mask::signature%252Bof-the-url", `::warning::Failed to save: 403 from ${address}, ${token}`),
  );
  await expect(cache.save("jobs/a/1", file("text"))).rejects.toThrow(
    /^Failed to save: 403 from https:\/\/storage\.example\/1\?sig=\*\*\*, \*\*\*$/,
  );
});
