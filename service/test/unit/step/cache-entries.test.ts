import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { scriptedCacheProcess } from "../../../../test/support/scripted-cache-process.ts";
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

/** Returns a cache whose process runs a script. */
function scripted(script: string) {
  const { program, runs } = scriptedCacheProcess(script);
  const environment = { ACTIONS_RUNTIME_TOKEN: token };
  const delays: number[] = [];
  const sleep = async (ms: number) => void delays.push(ms);
  const cache = connectCacheEntries({ environment, program, sleep });
  const restored = join(folder, "restored");
  return { cache, restored, restore: () => cache.restore("jobs/a/", restored), runs, delays };
}

test("the cache process gets the file, and the variables of the service", async () => {
  const { cache, runs } = scripted(`
    reply({ error: JSON.stringify({ text: fs.readFileSync(entry, "utf8"), path: process.env.PATH }) });`);
  const error = await cache.save("jobs/a/1", file("text")).catch(({ message }: Error) => message);
  expect(JSON.parse(String(error))).toEqual({ text: "text", path: process.env.PATH });
  expect(runs()).toEqual([`cache save jobs/a/1 ${join(folder, "saved")}`]);
});

test("says whether there was an entry", async () => {
  const { restore, restored, runs } = scripted("reply({ isDone: false });");
  expect(await restore()).toBe(false);
  expect(existsSync(restored)).toBe(false);
  expect(runs()).toEqual([`cache restore jobs/a/ ${restored}`]);
});

test("restores in three attempts, each of which may leave a part to the next", async () => {
  const { restore, restored, runs, delays } = scripted(`
    fs.writeFileSync(entry, "part " + run);
    reply(run === 3 ? { isDone: true } : { error: "boom " + run });`);
  expect(await restore()).toBe(true);
  expect(readFileSync(restored, "utf8")).toBe("part 3");
  expect(runs()).toHaveLength(3);
  expect(delays).toEqual([1000, 3000]);
});

test("throws what the third attempt says", async () => {
  const { restore, runs } = scripted('reply({ error: "boom " + run });');
  await expect(restore()).rejects.toThrow(/^boom 3$/);
  expect(runs()).toHaveLength(3);
});

test("saves in one attempt", async () => {
  const { cache, runs } = scripted('reply({ error: "boom" });');
  await expect(cache.save("jobs/a/1", file("text"))).rejects.toThrow("boom");
  expect(runs()).toHaveLength(1);
});

test("does not tell the runner's token, nor what the library asks to mask", async () => {
  const address = "https://storage.example/1?sig=signature%2Bof-the-url";
  const { cache } = scripted(
    `process.stdout.write("::add-mask::signature%252Bof-the-url\\n", () =>
      reply({ error: ${JSON.stringify(`403 from ${address}, ${token}`)} }));`,
  );
  await expect(cache.save("jobs/a/1", file("text"))).rejects.toThrow(
    /^403 from https:\/\/storage\.example\/1\?sig=\*\*\*, \*\*\*$/,
  );
});
