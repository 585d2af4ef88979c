import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { quoted } from "../../../../test/support/quoted.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { type Limits, watchLimits } from "../../../src/agents/limits.ts";
import { signalGroup } from "../../../src/processes/process-group.ts";

/**
 * Starts a shell script as the leader of a process group, and waits for its first line, which may name a process that left the group.
 * Returns its id.
 */
async function start(script: string): Promise<number> {
  const leader = spawn("/bin/sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => signalGroup(leader.pid, "SIGKILL"));
  const [line] = await once(leader.stdout, "data");
  const [, left] = /^left the group: (\d+)/.exec(String(line)) ?? [];
  // It runs until then, so the id is its own.
  if (left !== undefined) onTestFinished(() => void process.kill(Number(left), "SIGKILL"));
  return leader.pid ?? 0;
}

/** A shell with one child that has two children, of which one left its process group. */
const family = '(setsid sleep 300 & left=$!; sleep 300 & echo "left the group: $left"; wait) & wait "$!"';

/** Puts a shell script in place of `du`. It adds a line to a file whenever it runs. Returns the path of that file. */
function replaceDu(script: string): string {
  const folder = temporaryFolder();
  const calls = join(folder, "calls");
  writeFileSync(join(folder, "du"), `#!/bin/sh\necho >> '${calls}'\n${script}\n`, { mode: 0o755 });
  const { PATH } = process.env;
  process.env.PATH = `${folder}:${PATH}`;
  onTestFinished(() => {
    process.env.PATH = PATH;
  });
  return calls;
}

/** Returns a controller that is aborted at the end of the test, so that nothing is watched after it. */
function abortedAtEnd(): AbortController {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return stop;
}

/** Watches the files of no directory. Waits for the first call of `du`. */
async function watchFiles(calls: string) {
  const stop = abortedAtEnd();
  let isEnded = false;
  const ended = watchLimits(process.pid, [], { diskMb: 1 }, () => {}, stop.signal).then(() => {
    isEnded = true;
  });
  await waitUntil(() => existsSync(calls) || isEnded);
  return { ended, stop };
}

/** Waits until something is exceeded, and returns what. */
async function exceeded(leader: number, limits: Limits, directories: string[] = []): Promise<string[]> {
  const what: string[] = [];
  await watchLimits(leader, directories, limits, (each) => void what.push(each.what), abortedAtEnd().signal);
  return what;
}

/** Returns the limit that is exceeded in the first check, for which it gives some time. */
async function exceededSoon(leader: number, limits: Limits, directories: string[] = []): Promise<string[]> {
  const stop = abortedAtEnd();
  const what: string[] = [];
  const watch = watchLimits(leader, directories, limits, (each) => void what.push(each.what), stop.signal);
  await Promise.race([watch, setTimeout(300)]);
  stop.abort();
  await watch;
  return what;
}

describe.skipIf(process.platform !== "linux")("the limit of", () => {
  test("processes counts all descendants, but not the leader", async () => {
    const leader = await start(family);
    expect(await exceeded(leader, { processes: 2 })).toEqual(["more than 2 processes"]);
    expect(await exceededSoon(leader, { processes: 3 })).toEqual([]);
  });

  test("memory counts all descendants, but not the leader", async () => {
    const leader = await start(family);
    expect(await exceeded(leader, { memoryMb: 0 })).toEqual(["more than 0 MB of memory"]);
    expect(await exceededSoon(leader, { memoryMb: 1000, processes: 100 })).toEqual([]);
    expect(await exceededSoon(await start("echo started; while :; do :; done"), { memoryMb: 0, processes: 0 })).toEqual(
      [],
    );
  });

  test("memory is also checked if nothing else is limited", async () => {
    const leader = await start(family);
    const limits = { memoryMb: 0, processes: undefined, diskMb: undefined };
    expect(await exceeded(leader, limits)).toEqual(["more than 0 MB of memory"]);
  });

  test("memory is in megabytes", async () => {
    const allocate = "globalThis.kept = Buffer.alloc(200_000_000, 1); console.log(1); setTimeout(() => {}, 300_000)";
    const leader = await start(`${quoted(process.execPath, "--eval", allocate)} & wait`);
    expect(await exceeded(leader, { memoryMb: 150 })).toEqual(["more than 150 MB of memory"]);
    expect(await exceededSoon(leader, { memoryMb: 800 })).toEqual([]);
  });

  test("memory counts files in memory that are mapped", async () => {
    const database = `/dev/shm/limits-test-${process.pid}.sqlite`;
    onTestFinished(() => rmSync(database, { force: true }));
    const map = `
      const database = new (require("node:sqlite").DatabaseSync)(process.argv[1]);
      database.exec("pragma journal_mode = off; pragma mmap_size = 100000000; create table t (x)");
      database.exec("insert into t values (zeroblob(20000000)), (zeroblob(20000000))");
      database.prepare("select x from t").all();
      console.log(1); setTimeout(() => {}, 300_000)`;
    const leader = await start(`${quoted(process.execPath, "--eval", map, database)} & wait`);
    const [child = ""] = readFileSync(`/proc/${leader}/task/${leader}/children`, "utf8").split(" ");
    const anonymousKb = Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${child}/status`, "utf8"))?.[1]);
    const memoryMb = Math.round(anonymousKb / 1024) + 20;
    expect(await exceeded(leader, { memoryMb })).toEqual([`more than ${memoryMb} MB of memory`]);
    expect(await exceededSoon(leader, { memoryMb: memoryMb + 100 })).toEqual([]);
  });

  test("files counts all directories, even if one is gone", async () => {
    const folder = temporaryFolder();
    const directories = ["a", "b", "gone"].map((name) => join(folder, name));
    for (const directory of directories.slice(0, 2)) {
      mkdirSync(directory);
      writeFileSync(join(directory, "file"), "x".repeat(700 * 1024));
    }
    expect(await exceeded(process.pid, { diskMb: 1 }, directories)).toEqual(["more than 1 MB of disk"]);
    expect(await exceededSoon(process.pid, { diskMb: 2 }, directories)).toEqual([]);
    expect(await exceededSoon(process.pid, { diskMb: 0 }, directories.slice(2))).toEqual([]);
  });

  test("files is not confused by numbers in their paths", async () => {
    const folder = join(temporaryFolder(), "9999999");
    mkdirSync(folder);
    expect(await exceededSoon(process.pid, { diskMb: 2 }, [folder])).toEqual([]);
  });

  test("files is checked less often if that takes long, and at the end not awaited", async () => {
    const calls = replaceDu("echo 1");
    // The first check seems to take ten seconds.
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (existsSync(calls) ? 1_010_000 : 1_000_000));
    onTestFinished(() => clock.mockRestore());
    const watch = await watchFiles(calls);
    await setTimeout(1500);
    expect(readFileSync(calls, "utf8")).toBe("\n");
    watch.stop.abort();
    await watch.ended;
    expect(clock).toHaveBeenCalled();
  });

  test("files is not read to the end after the end of the checks", async () => {
    const watch = await watchFiles(replaceDu("exec sleep 300"));
    watch.stop.abort();
    await expect(watch.ended).resolves.toBeUndefined();
  });

  test("files is not checked, which takes long, if only something else is limited", async () => {
    const calls = replaceDu("echo 1");
    expect(await exceededSoon(process.pid, { processes: 1000, memoryMb: undefined, diskMb: undefined })).toEqual([]);
    expect(existsSync(calls)).toBe(false);
  });

  test("nothing ends at once", async () => {
    const limits = { processes: undefined, memoryMb: undefined, diskMb: undefined };
    const exceeded = vi.fn();
    await watchLimits(await start(family), [], limits, exceeded, new AbortController().signal);
    expect(exceeded).not.toHaveBeenCalled();
  });

  test("anything is checked again, until it is exceeded", async () => {
    const folder = temporaryFolder();
    const what: string[] = [];
    const { signal } = abortedAtEnd();
    const watch = watchLimits(process.pid, [folder], { diskMb: 0.1 }, (each) => void what.push(each.what), signal);
    await setTimeout(300);
    expect(what).toEqual([]);
    writeFileSync(join(folder, "file"), "x".repeat(200 * 1024));
    await watch;
    expect(what).toEqual(["more than 0.1 MB of disk"]);
  });

  test("anything is not reported after the end of the checks", async () => {
    const leader = await start(family);
    const what: string[] = [];
    const stop = abortedAtEnd();
    const watch = watchLimits(leader, [], { processes: 0 }, (each) => void what.push(each.what), stop.signal);
    stop.abort();
    await watch;
    await watchLimits(leader, [], { processes: 0 }, (each) => void what.push(each.what), stop.signal);
    expect(what).toEqual([]);
  });
});
