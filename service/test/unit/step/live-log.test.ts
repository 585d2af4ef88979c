import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { LiveLog, LiveLogs } from "../../../step/live-log.ts";

const key = "sk-ant-0123456789abcdefghijklmnop";
const secrets = [{ name: "KEY", value: key }];
const second = 1000;
const minute = 60 * second;

function setUp() {
  const lines: string[] = [];
  const live = new LiveLog({ secrets, print: (line) => lines.push(line) });
  const add = (text: string, now = 0, isLast = false) => live.add(Buffer.from(text), now, isLast);
  return { lines, add };
}

test("shows what the agent says and the names of its tools, and never what these returned", async () => {
  const { lines, add } = setUp();
  await add("[service] Turn 1 started.\n| Model: large\n| I look.\n| → Read docs/a.md\n| ← secret of the file\n\n");
  expect(lines).toEqual(["[service] Turn 1 started.", "| Model: large", "| I look.", "| → Read docs/a.md"]);
});

test("an agent that works for ten minutes is heard of, also while it says nothing", async () => {
  const { lines, add } = setUp();
  for (let now = 0; now < 20 * minute; now += second) await add(now === 8 * minute ? "| Still here.\n" : "", now);
  const silent = "Nothing more was printed for five minutes.";
  expect(lines).toEqual(["| Still here.", silent, silent]);
});

test("of a million lines, as many are shown as people can read, and all are counted", async () => {
  const { lines, add } = setUp();
  const many = "| line\n".repeat(10_000);
  for (let now = 0; now < 100 * second; now += second) await add(many, now);
  await add("", 100 * second, true);
  const shown = lines.filter((line) => line === "| line");
  const counts = lines.flatMap((line) => Number(/^… (\d+) more lines$/.exec(line)?.[1] ?? 0));
  expect(shown).toHaveLength(2000);
  expect(counts.reduce((sum, count) => sum + count, shown.length)).toBe(1_000_000);
  expect(lines.length).toBeLessThan(2200);
});

test("what the service says is shown, also below more lines than people can read", async () => {
  const { lines, add } = setUp();
  const note = "[service] The commit is only on this machine: GitHub is away";
  for (let now = 0; now < 101 * second; now += second) await add("| line\n".repeat(100), now);
  await add(`${"| line\n".repeat(100)}${note}\n`, 101 * second);
  expect(lines.slice(-2)).toContain(note);
  await add("[service] line\n".repeat(1000), 102 * second);
  expect(lines.filter((line) => line === "[service] line")).toHaveLength(200);
  // A command of one's own can print what looks like it.
  for (let now = 103; now < 200; now++) await add("[service] line\n".repeat(1000), now * second);
  expect(lines.filter((line) => line === "[service] line")).toHaveLength(1999);
});

test.each([
  ["a whole key", `| ${key}\n`, ["| ***"]],
  ["half of one in each of two events", `| ${key.slice(0, 16)}\n`, ["| ***", "| ***"], `| ${key.slice(16)}\n| Done\n`],
  ["half of one that was cut", `| → Bash echo ${key.slice(0, 20)}…\n`, ["| → Bash echo ***"]],
  ["half of one at the end", `| ${key.slice(0, 16)}\n`, ["| ***"]],
  ["what only begins like one", "| sk-ant-\n", ["| sk-ant-", "| Done"], "| Done\n"],
])("%s: nothing of a secret is shown", async (_, first, shown, then = "") => {
  const { lines, add } = setUp();
  await add(first);
  await add(then, minute);
  await add("", 2 * minute, true);
  const stars = lines
    .map((line) => line.replace(/\*{3,}/g, "***"))
    .filter((line) => line !== "| Done" || shown.includes(line));
  expect(stars).toEqual(shown);
  expect(lines.join("\n")).not.toMatch(/0123456789|abcdefghij/);
});

test("follows the logs of jobs, whole lines, until it ends", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "logs"));
  const file = join(folder, "logs/job_1.log");
  const lines: string[] = [];
  await using logs = new LiveLogs(folder, { secrets, print: (line) => lines.push(line) });
  appendFileSync(file, "| One\n| T");
  await waitUntil(() => lines.length > 0);
  expect(lines).toEqual(["| One"]);
  appendFileSync(file, "wo\n");
  await logs[Symbol.asyncDispose]();
  expect(lines).toEqual(["| One", "| Two"]);
});
