import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { create } from "tar";
import { beforeEach, describe, expect, test } from "vitest";
import { packHome, unpackHome } from "../../../src/service/jobs/home-archive.ts";
import type { JobCopy } from "../../../src/service/jobs/job-copies.ts";
import type { CacheEntries } from "../../../src/service-step/memory/cache-entries.ts";
import { CachedJobs } from "../../../src/service-step/memory/cached-jobs.ts";
import { formatJobEntry, parseJobEntry } from "../../../src/service-step/memory/job-entry.ts";
import { temporaryFolder } from "../../support/step.ts";

const id = "job_00000000-0000-4000-8000-000000000000";
const job: JobCopy = {
  id,
  project: "docs",
  createdAt: 1000,
  archivedAt: null,
  pullRequest: "https://github.com/acme/docs/pull/1",
  head: "a".repeat(40),
  turns: [{ id: 5, prompt: "Go", state: "completed", attempts: 1, endedAt: 2000, answer: null }],
};

let folder = "";
let home = "";
beforeEach(() => {
  folder = temporaryFolder();
  home = join(folder, "jobs/a/home");
  mkdirSync(join(home, ".agent"), { recursive: true });
  writeFileSync(join(home, ".agent/session"), "remembered");
});

describe("the archive of a home directory", () => {
  const pack = (secrets: string[] = []) => packHome(home, join(folder, "home.tar"), secrets);
  const unpack = async () => {
    const restored = join(folder, "restored");
    await unpackHome(join(folder, "home.tar"), restored);
    return restored;
  };

  test("keeps files with their times and names", async () => {
    writeFileSync(join(home, "@odd name"), "odd");
    utimesSync(join(home, ".agent/session"), 100, 200);
    expect(await pack()).toEqual([]);
    const restored = await unpack();
    expect(readFileSync(join(restored, ".agent/session"), "utf8")).toBe("remembered");
    expect(readFileSync(join(restored, "@odd name"), "utf8")).toBe("odd");
    expect(statSync(join(restored, ".agent/session")).mtimeMs).toBe(200_000);
  });

  test("leaves out files with a secret, links, and what agents fill again", async () => {
    writeFileSync(join(home, "auth.json"), '{"key":"sk-0123456789"}');
    symlinkSync("/etc/passwd", join(home, "link"));
    mkdirSync(join(home, ".cache"));
    writeFileSync(join(home, ".cache/large"), "x");
    expect(await pack(["sk-0123456789"])).toEqual(["auth.json"]);
    expect(readdirSync(await unpack())).toEqual([".agent"]);
  });

  test("is not made of a directory that is too large", async () => {
    writeFileSync(join(home, "large"), "");
    truncateSync(join(home, "large"), 50_000_001);
    await expect(pack()).rejects.toThrow("more than 50 MB");
  });

  test("is not made of too many files, and such a one is rejected", async () => {
    const many = join(folder, "many");
    mkdirSync(many);
    const names = Array.from({ length: 10_001 }, (_, index) => String(index));
    for (const name of names) writeFileSync(join(many, name), "");
    await expect(packHome(many, join(folder, "home.tar"), [])).rejects.toThrow("more than 10000 files");
    await create({ file: join(folder, "home.tar"), cwd: many }, names);
    await expect(unpack()).rejects.toThrow("more than 10000 files");
    expect(existsSync(join(folder, "restored"))).toBe(false);
  });

  test("writes nothing outside the directory", async () => {
    writeFileSync(join(folder, "outside"), "before");
    const paths = ["../../../outside", join(folder, "outside")];
    for (const path of paths) {
      writeFileSync(join(folder, "outside"), "before");
      await create({ file: join(folder, "home.tar"), cwd: home, preservePaths: true }, [path]);
      writeFileSync(join(folder, "outside"), "after");
      await unpackHome(join(folder, "home.tar"), join(folder, "x/y/z")).catch(() => {});
      expect(readFileSync(join(folder, "outside"), "utf8")).toBe("after");
    }
  });

  test("writes no links and no programs of another user", async () => {
    writeFileSync(join(home, "setuid"), "x");
    chmodSync(join(home, "setuid"), 0o4755);
    symlinkSync("setuid", join(home, "link"));
    linkSync(join(home, "setuid"), join(home, "twin"));
    await create({ file: join(folder, "home.tar"), cwd: home }, ["setuid", "link", "twin"]);
    const restored = await unpack();
    expect(readdirSync(restored)).toEqual(["setuid"]);
    expect(statSync(join(restored, "setuid")).mode & 0o7777).toBe(0o700);
  });

  test("is rejected if it is none, and leaves no directory", async () => {
    writeFileSync(join(folder, "home.tar"), "no archive".repeat(100));
    await expect(unpack()).rejects.toThrow();
    expect(existsSync(join(folder, "restored"))).toBe(false);
  });
});

describe("the entry of a job", () => {
  test("is read as it was written", () => {
    const entry = { job, home: { key: "k", path: "/p" } };
    expect(parseJobEntry(formatJobEntry(entry), id, "docs")).toEqual(entry);
    expect(parseJobEntry(formatJobEntry({ job }), id, "docs")).toEqual({ job });
  });

  test.each<[string, unknown]>([
    ["no JSON", "{"],
    ["another version", { version: 2, job }],
    ["another job", { version: 1, job: { ...job, id: "job_1" } }],
    ["another project", { version: 1, job: { ...job, project: "other" } }],
    ["a link that is none of a pull request", { version: 1, job: { ...job, pullRequest: "javascript:alert(1)" } }],
    ["a head that is no commit", { version: 1, job: { ...job, head: "--upload-pack=x" } }],
    ["no turns", { version: 1, job: { ...job, turns: [] } }],
    ["turns in another order", { version: 1, job: { ...job, turns: [...job.turns, ...job.turns] } }],
    ["a time that is none", { version: 1, job: { ...job, createdAt: 8.64e15 + 1 } }],
    [
      "the last id that a turn can have",
      { version: 1, job: { ...job, turns: [{ ...job.turns[0], id: 2 ** 53 - 1 }] } },
    ],
    ["a turn in an unknown state", { version: 1, job: { ...job, turns: [{ ...job.turns[0], state: "x" }] } }],
  ])("is ignored if it has %s", (_what, entry) => {
    const text = typeof entry === "string" ? entry : JSON.stringify(entry);
    expect(parseJobEntry(text, id, "docs")).toBeUndefined();
  });
});

describe("jobs in the cache", () => {
  /** A cache in a folder. */
  function fakeCache(): CacheEntries & { keys: string[] } {
    const keys: string[] = [];
    const stored = temporaryFolder();
    return {
      keys,
      save: async (key, file) => copyFileSync(file, join(stored, String(keys.push(key) - 1))),
      restore: async (prefix, file) => {
        const index = keys.findLastIndex((key) => key.startsWith(prefix));
        if (index >= 0) copyFileSync(join(stored, String(index)), file);
        return index >= 0;
      },
    };
  }
  const log: string[] = [];
  const connect = (cache: CacheEntries) =>
    new CachedJobs({ cache, projectId: "docs", folder, secrets: [], log: (line) => void log.push(line) });
  /** What another runner has: an empty folder in the same place. */
  const emptyHome = () => join(temporaryFolder(), "home");

  beforeEach(() => {
    log.length = 0;
  });

  test("continue with their session in the same folder", async () => {
    const cache = fakeCache();
    home = emptyHome();
    mkdirSync(home);
    writeFileSync(join(home, "session"), "one");
    await connect(cache).save(job, home);
    rmSync(home, { recursive: true });
    expect(await connect(cache).restore(id, home, home)).toEqual(job);
    expect(readFileSync(join(home, "session"), "utf8")).toBe("one");
    expect(cache.keys).toEqual([
      expect.stringMatching(`^agent-job-service/${id}/home/`),
      expect.stringMatching(`^agent-job-service/${id}/job/`),
    ]);
  });

  test("keep the session of the last turn while another one runs", async () => {
    const cache = fakeCache();
    const jobs = connect(cache);
    await jobs.save(job, home);
    await jobs.save({ ...job, pullRequest: null }, undefined);
    rmSync(home, { recursive: true });
    expect(await connect(cache).restore(id, home, home)).toEqual({ ...job, pullRequest: null });
    expect(readFileSync(join(home, ".agent/session"), "utf8")).toBe("remembered");
  });

  test.each([
    ["this runner has another folder", async () => emptyHome()],
    [
      "no longer in the cache",
      async (cache: ReturnType<typeof fakeCache>) => {
        cache.keys[0] = "evicted";
        return home;
      },
    ],
  ])("start a new session if %s", async (reason, change) => {
    const cache = fakeCache();
    await connect(cache).save(job, home);
    rmSync(home, { recursive: true });
    const restoredHome = await change(cache);
    expect(await connect(cache).restore(id, restoredHome, restoredHome)).toEqual(job);
    expect(existsSync(restoredHome)).toBe(false);
    expect(log.join("\n")).toContain("the agent starts a new session");
    expect(log.join("\n")).toContain(reason);
  });

  test("are kept without their session if that is too large", async () => {
    const cache = fakeCache();
    truncateSync(join(home, ".agent/session"), 60_000_000);
    await connect(cache).save(job, home);
    expect(cache.keys).toHaveLength(1);
    expect(log.join("\n")).toContain("home directory is not kept: it has more than 50 MB");
  });

  // Otherwise the last entry says that its turn is running, and a later run would run it again.
  test("are kept without their session if that cannot be read or saved", async () => {
    const cache = fakeCache();
    writeFileSync(Buffer.concat([Buffer.from(join(home, "name")), Buffer.from([0xff])]), "not UTF-8");
    await connect(cache).save(job, home);
    expect(await connect(cache).restore(id, home, emptyHome())).toEqual(job);
    expect(log.join("\n")).toContain("home directory is not kept: ENOENT");
    const full = fakeCache();
    const { save } = full;
    full.save = (key, file) => (key.includes("/home/") ? Promise.reject(new Error("full")) : save(key, file));
    await connect(full).save(job, join(home, ".agent"));
    expect(await connect(full).restore(id, home, emptyHome())).toEqual(job);
    expect(log.join("\n")).toContain("home directory is not kept: full");
    home = emptyHome();
    mkdirSync(home);
    await connect(cache).save(job, home);
    expect(log.join("\n")).toContain("home directory is not kept: it has no files to keep");
  });

  test("are not found if there is no entry, or one of someone else", async () => {
    const cache = fakeCache();
    expect(await connect(cache).restore(id, home, home)).toBeUndefined();
    writeFileSync(join(folder, "forged"), formatJobEntry({ job: { ...job, project: "other" } }));
    await cache.save(`agent-job-service/${id}/job/1`, join(folder, "forged"));
    expect(await connect(cache).restore(id, home, home)).toBeUndefined();
    expect(log.join("\n")).toContain("is not one of this service and is ignored");
  });

  test("take no home directory of another job", async () => {
    const cache = fakeCache();
    await connect(cache).save({ ...job, id: "job_other" }, home);
    const entry = formatJobEntry({ job, home: { key: cache.keys[0] ?? "", path: join(folder, "new") } });
    writeFileSync(join(folder, "forged"), entry);
    await cache.save(`agent-job-service/${id}/job/1`, join(folder, "forged"));
    expect(await connect(cache).restore(id, join(folder, "new"), join(folder, "new"))).toEqual(job);
    expect(existsSync(join(folder, "new"))).toBe(false);
  });
});
