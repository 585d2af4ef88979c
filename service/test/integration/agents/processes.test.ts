import { type ChildProcess, spawn } from "node:child_process";
import { getEventListeners, once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { childOf, identify, untilNoneIsLeft } from "../../../src/processes/own-processes.ts";
import { killGroup, signalGroup, waitForExit } from "../../../src/processes/process-group.ts";

/** Starts a shell script as the leader of a process group. It has a trap for SIGTERM as soon as this returns. */
async function start(script: string, trap = "-"): Promise<ChildProcess> {
  const leader = spawn("/bin/sh", ["-c", `trap ${trap} TERM; echo started; ${script}`], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => signalGroup(leader.pid, "SIGKILL"));
  if (leader.stdout) await once(leader.stdout, "data");
  return leader;
}

const hourMs = 3_600_000;

describe("waiting for a process group", () => {
  test("ends with its leader", async () => {
    const leader = await start("sleep 300 & sleep 0.1; exit 3");
    const exit = await waitForExit(leader, {
      until: "exit",
      timeLimitMs: hourMs,
      signal: new AbortController().signal,
    });
    expect(exit).toEqual({ exitCode: 3, terminated: undefined });
  });

  test("waits for its output if told to", async () => {
    const leader = await start("(sleep 0.3; echo late) & sleep 0.1");
    let output = "";
    leader.stdout?.on("data", (data) => {
      output += data;
    });
    await waitForExit(leader, { until: "close", timeLimitMs: hourMs });
    expect(output).toContain("late");
  });

  test("kills all of it at the time limit, without a SIGTERM if it has no time to end by itself", async () => {
    const leader = await start("sleep 300 & sleep 300", '""');
    using kill = vi.spyOn(leader, "kill");
    const exit = await waitForExit(leader, { until: "close", timeLimitMs: 10 });
    expect(exit).toEqual({ exitCode: null, terminated: "timed-out" });
    expect(kill).not.toHaveBeenCalled();
  });

  test("kills all of it when it is aborted, and keeps the first reason", async () => {
    const leader = await start("sleep 300 & sleep 300");
    const stop = new AbortController();
    const exit = waitForExit(leader, { until: "close", timeLimitMs: hourMs, signal: stop.signal });
    stop.abort();
    expect(await exit).toEqual({ exitCode: null, terminated: "aborted" });
    const late = await start("sleep 300");
    const options = { until: "close", timeLimitMs: 0, signal: AbortSignal.abort() } as const;
    expect(await waitForExit(late, options)).toEqual({ exitCode: null, terminated: "aborted" });
  });

  test("gives its leader time to end by itself", async () => {
    const leader = await start("sleep 300 & wait", '"exit 7"');
    const options = { until: "exit", timeLimitMs: hourMs, signal: AbortSignal.abort(), graceMs: hourMs } as const;
    expect(await waitForExit(leader, options)).toEqual({ exitCode: 7, terminated: "aborted" });
  });

  test("kills all of it after that time", async () => {
    const leader = await start("sleep 300 & while :; do sleep 0.01; done", '""');
    const options = { until: "close", timeLimitMs: 1, graceMs: 20 } as const;
    expect(await waitForExit(leader, options)).toEqual({ exitCode: null, terminated: "timed-out" });
  });

  test("leaves no timer and no listener behind", async () => {
    const stop = new AbortController();
    const options = { until: "exit", timeLimitMs: hourMs, graceMs: hourMs } as const;
    const [stopped, ended] = [await start("sleep 300 & wait", '"exit 0"'), await start("sleep 0.2")];
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const exits = [stopped, ended].map((leader) => waitForExit(leader, { ...options, signal: stop.signal }));
      await exits[1];
      stop.abort();
      await Promise.all(exits);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
    const { signal } = new AbortController();
    await waitForExit(await start("sleep 0.1"), { ...options, signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("fails if it cannot be started", async () => {
    const leader = spawn("/no/such/program", { stdio: "ignore" });
    await expect(waitForExit(leader, { until: "close", timeLimitMs: hourMs })).rejects.toThrow("ENOENT");
  });
});

test("signals a whole group, and ignores one that is gone or was never started", async () => {
  const leader = await start("sleep 300 & wait");
  const closed = once(leader, "close");
  signalGroup(leader.pid, "SIGTERM");
  expect(await closed).toEqual([null, "SIGTERM"]);
  signalGroup(leader.pid, "SIGTERM");
  signalGroup(undefined, "SIGTERM");
});

test.skipIf(process.platform !== "linux")(
  "a process for which nobody waits has ended, and so has its group",
  async () => {
    const file = join(temporaryFolder(), "id");
    // It ends once its parent is a program that does not wait for it, as the shell would.
    const child = `setsid sh -c 'until [ "$(cat /proc/$PPID/comm)" = sleep ]; do sleep 0.02; done'`;
    const leader = await start(`${child} & echo $! > ${file}.new; mv ${file}.new ${file}; exec sleep 300`);
    await waitUntil(() => existsSync(file));
    const zombie = Number(readFileSync(file, "utf8"));
    await waitUntil(() => identify(zombie) === undefined);
    expect(readFileSync(`/proc/${zombie}/stat`, "utf8")).toContain(" Z ");
    expect(childOf(leader.pid ?? 0)).toBeUndefined();
    await killGroup(zombie);
    await killGroup(leader.pid);
    expect(identify(leader.pid ?? 0)).toBeUndefined();
  },
);

test("killing goes on while it cannot be seen what is left", async () => {
  const results = [true, Object.assign(new Error("too many open files"), { code: "EMFILE" }), true, false];
  const killAll = () => {
    const result = results.shift();
    if (result instanceof Error) throw result;
    return result === true;
  };
  await untilNoneIsLeft(killAll);
  expect(results).toEqual([]);
  const broken = () => {
    throw new TypeError("a bug");
  };
  await expect(untilNoneIsLeft(broken)).rejects.toThrow("a bug");
});
