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
import { gzipSync } from "node:zlib";
import { create, type WriteEntry } from "tar";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { checkResults, failureClasses, type JobCopy, keptWorks, turnStages } from "../../../src/model.ts";
import { type ArchiveLimits, packHome, unpackHome } from "../../../src/store/home-archive.ts";
import type { CacheEntries } from "../../../step/memory/cache-entries.ts";
import { CachedJobs } from "../../../step/memory/cached-jobs.ts";
import { formatJobEntry, parseJobEntry } from "../../../step/memory/job-entry.ts";
import { identityOf } from "../../support/turn-identity.ts";

const id = "job_00000000-0000-4000-8000-000000000000";
const job: JobCopy = {
  id,
  project: "docs",
  createdAt: 1000,
  archivedAt: null,
  pullRequest: "https://github.com/acme/docs/pull/1",
  head: "a".repeat(40),
  base: null,
  session: "nightly",
  turns: [
    {
      ...{
        id: 5,
        identity: identityOf(5),
        prompt: "Go",
        promptHash: "0".repeat(32),
        sections: "",
        asked: null,
        covers: null,
        state: "completed",
        attempts: 1,
        startedAt: 1000,
        endedAt: 2000,
        answer: null,
      },
      ...{
        caller: "",
        step: "",
        request: "5",
        reason: null,
        head: null,
        kept: null,
        stopRequestedAt: null,
        costUsd: null,
        sessionCost: null,
        failureClass: null,
        checkResult: null,
        checkOutput: null,
        stage: null,
        made: null,
      },
    },
  ],
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
  const pack = (secrets: string[] = [], limits?: ArchiveLimits) =>
    packHome(home, join(folder, "home.tar"), secrets, limits);
  const unpack = async (limits?: ArchiveLimits) => {
    const restored = join(folder, "new/restored");
    await unpackHome(join(folder, "home.tar"), restored, limits);
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
    writeFileSync(join(home, "basic"), Buffer.from("user:sk-0123456789").toString("base64"));
    writeFileSync(join(home, "named-SK-0123456789"), "x");
    writeFileSync(join(home, "session"), '{"text":"-----BEGIN\\n    first-line-4711\\n    second-line-0815\\nEND"}');
    symlinkSync("/etc/passwd", join(home, "link"));
    for (const name of [".cache", ".npm", "node_modules"]) {
      mkdirSync(join(home, name));
      writeFileSync(join(home, name, "large"), "x");
    }
    expect((await pack(["other", "sk-0123456789", "first-line-4711\nsecond-line-0815\n"])).sort()).toEqual([
      "auth.json",
      "basic",
      "named-***",
      "session",
    ]);
    expect(readdirSync(await unpack())).toEqual([".agent"]);
  });

  test("is not made of a directory that is too large", async () => {
    writeFileSync(join(home, "large"), "");
    truncateSync(join(home, "large"), 50_000_001);
    await expect(pack()).rejects.toThrow("more than 50 MB");
  });

  test.each([
    ["too many files", { entries: 3 }, { entries: 2 }, "it has more than 2 files"],
    ["too many bytes", { megabytes: 0.002 }, { megabytes: 0.001_999 }, "it has more than 0.001999 MB"],
  ])("is not made of %s, and such a one is rejected", async (_what, enough, less, message) => {
    const most = { megabytes: 1, entries: 100 };
    // Folders count, too, when it is made.
    rmSync(join(home, ".agent"), { recursive: true });
    for (const name of ["a", "b", "c"]) writeFileSync(join(home, name), "x".repeat(name === "b" ? 2000 : 0));
    await pack([], { ...most, ...enough });
    expect(readdirSync(await unpack({ ...most, ...enough }))).toEqual(["a", "b", "c"]);
    rmSync(join(folder, "new"), { recursive: true });
    await expect(unpack({ ...most, ...less })).rejects.toThrow(message);
    expect(readdirSync(join(folder, "new"))).toEqual([]);
    await expect(pack([], { ...most, ...less })).rejects.toThrow(message);
  });

  test("is not made of too many folders", async () => {
    for (const name of ["a", "b", "c"]) mkdirSync(join(home, name));
    await expect(pack([], { megabytes: 1, entries: 4 })).rejects.toThrow("more than 4 files");
    await pack([], { megabytes: 1, entries: 5 });
  });

  test("is rejected if it has a file that is too large, whatever follows", async () => {
    writeFileSync(join(home, "first"), "x");
    truncateSync(join(home, ".agent/session"), 1_000_000);
    await create({ file: join(folder, "home.tar"), cwd: home }, [".agent/session", "first"]);
    await expect(unpack({ megabytes: 0.9, entries: 100 })).rejects.toThrow("more than 0.9 MB");
    expect(readdirSync(join(folder, "new"))).toEqual([]);
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
    const onWriteEntry = ({ stat }: WriteEntry) => Object.assign(stat ?? {}, { uid: 12_345, gid: 12_345 });
    await create({ file: join(folder, "home.tar"), cwd: home, onWriteEntry }, ["setuid", "link", "twin"]);
    const restored = await unpack();
    expect(readdirSync(restored)).toEqual(["setuid"]);
    expect(statSync(join(restored, "setuid")).mode & 0o7777).toBe(0o700);
    expect(statSync(join(restored, "setuid")).uid).toBe(process.getuid?.());
  });

  test("is rejected if it is none, and leaves no directory", async () => {
    writeFileSync(join(folder, "home.tar"), "no archive".repeat(100));
    await expect(unpack()).rejects.toThrow();
    expect(readdirSync(join(folder, "new"))).toEqual([]);
  });

  test.each([
    ["its end is missing", (archive: Buffer) => archive.subarray(0, 5000), "Truncated"],
    ["a file has other bytes than it had", (archive: Buffer) => archive.fill("y", 1024, 1100), "checksum failure"],
  ])("is rejected if %s", async (_what, damage, message) => {
    const file = join(folder, "home.tar");
    for (const name of ["one", "two"]) writeFileSync(join(home, name), name.padEnd(10_000));
    await create({ file, cwd: home }, [".agent/session", "one", "two"]);
    writeFileSync(file, damage(readFileSync(file)));
    await expect(unpack()).rejects.toThrow(message);
    expect(readdirSync(join(folder, "new"))).toEqual([]);
  });
});

describe("the entry of a job", () => {
  test("is read as it was written", () => {
    const entry = { job, home: { key: "k", path: "/p" } };
    expect(parseJobEntry(formatJobEntry(entry), id, "docs")).toEqual(entry);
    expect(parseJobEntry(formatJobEntry({ job }), id, "docs")).toEqual({ job });
    const named = { ...job, branch: `docs/agent-${id}` };
    expect(parseJobEntry(formatJobEntry({ job: named }), id, "docs")).toEqual({ job: named });
    const [turn] = job.turns;
    const other = {
      ...job,
      archivedAt: 3000,
      pullRequest: "http://git.acme.example/acme/docs/pull/123",
      head: "0123456789abcdef".repeat(4),
      turns: (["completed", "failed", "running", "waiting"] as const).map((state, index) => ({
        ...turn,
        id: 10 * (index + 1),
        identity: identityOf(index),
        prompt: "Go on",
        attempts: 2,
        state,
        startedAt: 1500,
        endedAt: null,
        answer: "Done",
        reason: "It failed.",
        head: "0123456789".repeat(4),
        stopRequestedAt: index === 2 ? 1600 : null,
        caller: "API key",
        step: index === 0 ? "" : "deploy",
        request: `request ${index}`,
      })),
    };
    expect(parseJobEntry(formatJobEntry({ job: other }), id, "docs")).toEqual({ job: other });
  });

  test.each([
    ...keptWorks.map((kept) => ({ kept })),
    ...failureClasses.map((failureClass) => ({ failureClass })),
    ...checkResults.map((checkResult) => ({ checkResult })),
    ...turnStages.map((stage) => ({ stage })),
  ])("is read with each end that a turn can have: %o", (end) => {
    const turns = job.turns.map((turn) => ({ ...turn, ...end }));
    expect(parseJobEntry(formatJobEntry({ job: { ...job, turns } }), id, "docs")?.job.turns).toEqual(turns);
  });

  test.each<[string, unknown]>([
    ["no JSON", "{"],
    ["another version", { version: 2, job }],
    ["another job", { version: 1, job: { ...job, id: "job_1" } }],
    ["another project", { version: 1, job: { ...job, project: "other" } }],
    ["the branch of another job", { version: 1, job: { ...job, branch: "main" } }],
    ["a link that is none of a pull request", { version: 1, job: { ...job, pullRequest: "javascript:alert(1)" } }],
    ["text before a link", { version: 1, job: { ...job, pullRequest: `x:${job.pullRequest}` } }],
    ["text after a link", { version: 1, job: { ...job, pullRequest: `${job.pullRequest}/x` } }],
    ["a head that is no commit", { version: 1, job: { ...job, head: "--upload-pack=x" } }],
    ["text before a commit", { version: 1, job: { ...job, head: `-${job.head}` } }],
    ["text after a commit", { version: 1, job: { ...job, head: `${job.head}^` } }],
    ["no turns", { version: 1, job: { ...job, turns: [] } }],
    ["a turn twice", { version: 1, job: { ...job, turns: [...job.turns, ...job.turns] } }],
    ["a time that is none", { version: 1, job: { ...job, createdAt: 8.64e15 + 1 } }],
    [
      "the last id that a turn can have",
      { version: 1, job: { ...job, turns: [{ ...job.turns[0], id: 2 ** 53 - 1 }] } },
    ],
    ["a step of several lines", { version: 1, job: { ...job, turns: [{ ...job.turns[0], step: "a\nb" }] } }],
    ["a request of several lines", { version: 1, job: { ...job, turns: [{ ...job.turns[0], request: "a\nb" }] } }],
    ["an empty request", { version: 1, job: { ...job, turns: [{ ...job.turns[0], request: "" }] } }],
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
  const connect = (cache: CacheEntries, secrets: string[] = [], keepsFiles = true) =>
    new CachedJobs({ cache, projectId: "docs", keepsFiles, folder, secrets, log: (line) => void log.push(line) });
  /** What another runner has: an empty folder in the same place. */
  const emptyHome = () => join(temporaryFolder(), "home");

  beforeEach(() => {
    log.length = 0;
  });

  test("of another repository leave no files in this one's cache: neither a home nor a commit", async () => {
    const cache = fakeCache();
    home = emptyHome();
    mkdirSync(home);
    writeFileSync(join(home, "session"), "one");
    const copies = connect(cache, [], false);
    expect(copies.keptCommits).toBeUndefined();
    await copies.save(job, home);
    expect(cache.keys).toEqual([expect.stringMatching(/^agent-job-service\/job_[^/]+\/job\//)]);
    const into = join(temporaryFolder(), "into");
    expect(await connect(cache, [], false).restore(job.id, home, into)).toEqual(job);
    expect(existsSync(into)).toBe(false);
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
    // No file is left in the folder for temporary ones.
    expect(readdirSync(folder)).toEqual(["jobs"]);
    expect(log).toEqual([]);
  });

  test("are found by the steps of their turns, also if those pushed nothing", async () => {
    const cache = fakeCache();
    const sent = (step: string) => ({ project: "docs", caller: "API key", step });
    const [last] = job.turns;
    const turn = (id: number, step: string, state: "completed" | "failed" | "waiting" = "completed") => {
      return {
        ...last,
        id,
        identity: identityOf(id),
        prompt: "Go",
        attempts: 1,
        endedAt: null,
        answer: null,
        caller: "API key",
        request: "r",
        step,
        state,
      };
    };
    const other = { ...job, id: id.replace(/0$/, "1"), turns: [turn(7, "b")] };
    const jobs = connect(cache);
    const earlier = [turn(4, "old"), turn(5, "failed", "failed")];
    await jobs.save({ ...job, turns: [...earlier, turn(6, "a-1", "waiting"), turn(7, "b", "waiting")] }, undefined);
    await jobs.save({ ...job, turns: [...earlier, turn(6, "a-1"), turn(7, "b")] }, undefined);
    await jobs.save(other, undefined);
    await jobs.save({ ...job, turns: [turn(8, "not/a key"), turn(9, "")] }, undefined);
    const later = connect(cache);
    expect(await later.jobsOfStep(sent("a-1"))).toEqual([id]);
    expect(await later.jobsOfStep(sent("b"))).toEqual([id, other.id]);
    for (const step of ["old", "failed", "c", "not/a key", ""]) expect(await later.jobsOfStep(sent(step))).toEqual([]);
    // Each is saved once.
    expect(cache.keys.filter((key) => key.startsWith("agent-job-service/step/"))).toHaveLength(3);
  });

  test("continue with the session of an earlier run while another turn runs", async () => {
    const cache = fakeCache();
    await connect(cache).save(job, home);
    rmSync(home, { recursive: true });
    const second = connect(cache);
    await second.restore(id, home, home);
    await second.save({ ...job, pullRequest: null }, undefined);
    rmSync(home, { recursive: true });
    expect(await connect(cache).restore(id, home, home)).toEqual({ ...job, pullRequest: null });
    expect(readFileSync(join(home, ".agent/session"), "utf8")).toBe("remembered");
  });

  test("say which files of a session are left out, because they have a secret", async () => {
    for (const name of ["auth.json", "token"]) writeFileSync(join(home, name), "sk-0123456789");
    await connect(fakeCache(), ["sk-0123456789"]).save(job, home);
    expect(log).toEqual([`${id}: not kept, because they have a secret: auth.json, token`]);
  });

  test("are not saved, and not restored, if their entry is larger than 20 MB", async () => {
    const cache = fakeCache();
    const jobs = connect(cache);
    const sized = (bytes: number): JobCopy => {
      const [turn] = job.turns as [JobCopy["turns"][0]];
      const rest = Buffer.byteLength(formatJobEntry({ job: { ...job, turns: [{ ...turn, prompt: "" }] } }));
      return { ...job, turns: [{ ...turn, prompt: "x".repeat(bytes - rest) }] };
    };
    const [largest, larger] = [sized(20_000_000), sized(20_000_001)];
    await jobs.save(largest, undefined);
    expect(await jobs.restore(id, home, home)).toEqual(largest);
    await expect(jobs.save(larger, undefined)).rejects.toThrow("its prompts are too large");
    writeFileSync(join(folder, "forged"), gzipSync(formatJobEntry({ job: larger })));
    await cache.save(`agent-job-service/${id}/job/1`, join(folder, "forged"));
    expect(await jobs.restore(id, home, home)).toBeUndefined();
    expect(log).toEqual([
      `agent-job-service/${id}/job/: the newest entry of the cache is not one of this service and is ignored`,
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
    [
      "the last one cannot be restored: 503",
      async (cache: ReturnType<typeof fakeCache>) => {
        const { restore } = cache;
        cache.restore = (prefix, file) =>
          prefix.includes("/home/") ? Promise.reject(new Error("503")) : restore(prefix, file);
        return home;
      },
    ],
    [
      "the last one cannot be restored",
      async (cache: ReturnType<typeof fakeCache>) => {
        writeFileSync(join(folder, "garbage"), "no archive".repeat(100));
        const [key = "", jobKey = ""] = cache.keys;
        cache.keys[0] = "evicted";
        await cache.save(key, join(folder, "garbage"));
        expect(cache.keys).toEqual(["evicted", jobKey, key]);
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
    writeFileSync(join(folder, "forged"), gzipSync(formatJobEntry({ job: { ...job, project: "other" } })));
    await cache.save(`agent-job-service/${id}/job/1`, join(folder, "forged"));
    expect(await connect(cache).restore(id, home, home)).toBeUndefined();
    expect(log.join("\n")).toContain("is not one of this service and is ignored");
  });

  test.each([
    ["not compressed", Buffer.from(formatJobEntry({ job }))],
    ["cut off", gzipSync(formatJobEntry({ job })).subarray(0, 100)],
    ["empty", Buffer.alloc(0)],
  ])("are not found if their entry is %s", async (_what, entry) => {
    const cache = fakeCache();
    writeFileSync(join(folder, "forged"), entry);
    await cache.save(`agent-job-service/${id}/job/1`, join(folder, "forged"));
    expect(await connect(cache).restore(id, home, home)).toBeUndefined();
    expect(log.join("\n")).toContain("is not one of this service and is ignored");
  });

  test("and commits that this runner cannot read are not taken for damaged ones", async () => {
    // What is restored cannot be read as a file.
    const restore = async (_prefix: string, file: string) => mkdirSync(file) === undefined;
    const copies = connect({ save: async () => {}, restore });
    await expect(copies.restore(id, home, home)).rejects.toThrow("EISDIR");
    await expect(copies.keptCommits?.load(id, { identity: identityOf(5) })).rejects.toThrow("EISDIR");
    expect(log).toEqual([]);
  });

  test("take no home directory of another job", async () => {
    const cache = fakeCache();
    await connect(cache).save({ ...job, id: "job_other" }, home);
    const entry = formatJobEntry({ job, home: { key: cache.keys[0] ?? "", path: join(folder, "new") } });
    writeFileSync(join(folder, "forged"), gzipSync(entry));
    await cache.save(`agent-job-service/${id}/job/1`, join(folder, "forged"));
    expect(await connect(cache).restore(id, join(folder, "new"), join(folder, "new"))).toEqual(job);
    expect(existsSync(join(folder, "new"))).toBe(false);
  });
});
