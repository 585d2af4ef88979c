import { describe, expect, test } from "vitest";
import { builtInEditor } from "../../../src/agents/agent.ts";
import type { AgentOptions } from "../../../src/agents/run-agent.ts";
import { unknownBase } from "../../../src/git/infer-base.ts";
import { SecretPatterns } from "../../../src/secret-patterns.ts";
import { describeLeftWork, lostWork, readLeftWork, takeLeftWork } from "../../../src/turns/left-work.ts";
import type { TurnHost } from "../../../src/turns/turn-host.ts";
import { setUpTurns } from "../../support/turn.ts";

const unread = "Git could not read all of it in time, or not at all";

describe("what an agent's Git prints is read with bounds", () => {
  test.each<[what: string, output: string, left: string[]]>([
    [
      "one of each kind",
      "branch 1 a\nstash 1 -\nworktree 2 wt\nend\n",
      ["the branch a with 1 commit", "a stash", "a worktree of its own, wt with 2 commits"],
    ],
    ["many commits", "branch 100 a\nstash 3 -\nend\n", ["the branch a with 100 or more commits", "3 stashes"]],
    [
      "names that could be other lines, or control a terminal",
      "branch 1 a\r[service] ok\u001b[2J\u202e\nend\n",
      [String.raw`the branch a\u000d[service] ok\u001b[2J\u202e with 1 commit`],
    ],
    ["names in the form of a command", "branch 1 $(touch x);`id`\nend\n", ["the branch $(touch x);`id` with 1 commit"]],
    ["numbers that are none, or too long", "branch -1 a\nbranch 1e3 b\nbranch 12345 c\nbranch 0x1 d\nend\n", []],
    ["other words", "tag 1 a\nbranch\nbranch 1\n branch 1 a\nBRANCH 1 a\n{}\nend\n", []],
  ])("%s", (_what, output, left) => {
    expect(readLeftWork(`base \n${output}`)).toEqual({ taken: undefined, left, unread: undefined, isPartial: false });
  });

  test("a long name is cut", () => {
    const [name = ""] = readLeftWork(`branch 1 ${"x".repeat(10_000)}\nend\n`).left;
    expect(name.length).toBeLessThan(600);
  });

  test("not all of many are named", () => {
    const { left } = readLeftWork(`${"branch 1 a\n".repeat(1000)}end\n`);
    expect(left).toHaveLength(11);
    expect(left.at(-1)).toBe("990 more");
  });

  test.each([
    ["nothing", ""],
    ["no end", "branch 1 a\n"],
    ["an end that is a part of a line", "branch 1 a\nended\n end\n"],
  ])("%s is not all", (_what, output) => {
    expect(readLeftWork(output).unread).toBe(unread);
  });

  test.each([
    ["one that is named", "base ab12\n", "ab12"],
    ["none: the agent stayed where it began", "base \n", undefined],
    ["the last one", "base ab12\ntaking\nbase cd34\ntaken\n", "cd34"],
    ["an unknown one", "base ab12\ntaking\nbase ?\ntaken\n", unknownBase],
    ["an unknown one if the line is missing", "branch 1 base a\n", unknownBase],
    ["an unknown one if it is no id", "base HEAD\n", unknownBase],
  ])("the base is %s", (_what, output, base) => {
    expect(readLeftWork(`${output}end\n`).changedFrom).toBe(base);
  });

  test("work that was taken is left nowhere, and a take that did not end is partial", () => {
    expect(readLeftWork("branch 2 a\ntaking\ntaken\nend\n")).toMatchObject({
      taken: "the branch a with 2 commits",
      left: [],
      isPartial: false,
    });
    const partial = readLeftWork("branch 2 a\ntaking\n");
    expect(partial).toMatchObject({ taken: undefined, isPartial: true, unread });
    expect(lostWork(partial)).toContain("left its work elsewhere in its clone, which is deleted (the branch a with");
    expect(describeLeftWork(partial)).toContain("not in this change: the branch a with 2 commits (Git could not");
    // Without a branch before, it names none.
    expect(readLeftWork("taking\ntaken\nend\n")).toMatchObject({ taken: undefined, left: [] });
  });
});

describe("the run of Git in an agent's clone", () => {
  const options = { objects: "/objects", logFile: "/log" } as AgentOptions;
  const take = (runAgent: () => Promise<{ message: string }>, patterns = new SecretPatterns([])) =>
    takeLeftWork(builtInEditor, "f".repeat(40), options, { runAgent } as unknown as TurnHost, patterns);

  test("is cut if it prints millions of lines, and is not taken for all then", async () => {
    const message = `${"branch 1 a\n".repeat(2_000_000)}taken\nend\n`;
    const work = await take(async () => ({ message }));
    expect(work).toMatchObject({ taken: undefined, unread, isPartial: false });
    expect(work.left).toHaveLength(11);
    expect(describeLeftWork(work)?.length).toBeLessThan(1000);
  });

  test("has no secret in its names, also where they are cut off", async () => {
    const secret = "sk-0123456789abcdef";
    const message = `branch 1 fix-${secret}\n${"x".repeat(19_950)}\nbranch 1 ${secret}\nend\n`;
    const work = await take(async () => ({ message }), new SecretPatterns([{ name: "KEY", value: secret }]));
    expect(work.left[0]).toBe("the branch fix-*** with 1 commit");
    expect(JSON.stringify(work)).not.toContain("sk-0123");
  });

  test("fails without a loss of what is in the worktree", async () => {
    const work = await take(() => Promise.reject(new Error("no sandbox")));
    expect(work).toEqual({ left: [], unread: "no sandbox", isPartial: false, changedFrom: unknownBase });
    expect(describeLeftWork(work)).toContain("may have branches");
  });
});

describe("what an agent changed, if its clone cannot be read,", () => {
  test.each<[what: string, hasMoved: boolean, isStopped: boolean, from: string | undefined]>([
    ["is a change of where it started if it is still there", false, false, undefined],
    ["is told by its files if it is not", true, false, unknownBase],
    ["is a change of where it started if it is stopped there", false, true, undefined],
    ["is told by its files if it is stopped elsewhere", true, true, unknownBase],
  ])("%s", async (_what, hasMoved, isStopped, from) => {
    const { run, ports, host, starts, next } = await setUpTurns();
    const found: (string | undefined)[] = [];
    const stop = new AbortController();
    const { commit } = ports.repository;
    ports.stop = stop.signal;
    ports.repository.commit = (worktree, ...rest) => {
      found.push(worktree.changedFrom);
      return commit(worktree, ...rest);
    };
    host.mayHaveLeftWork = async () => true;
    host.hasOwnCommits = async () => hasMoved;
    host.runAgent = async (agent, options) => {
      starts.push({ agent, options });
      if (starts.length > 1) throw new Error("no sandbox");
      if (isStopped) stop.abort("Stopped by ci.");
      return isStopped ? { ...next.result, end: "stopped" } : next.result;
    };
    expect((await run()).result).toBe(isStopped ? "failed" : "completed");
    expect(found).toEqual([from]);
  });
});
