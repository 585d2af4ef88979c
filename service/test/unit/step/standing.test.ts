import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { decide, type EarlierTurn } from "../../../../src/action/memory/decide.ts";
import { root } from "../../../../test/support/metadata.ts";
import type { StoredTurn, TurnCopy } from "../../../src/model.ts";
import { findKeptTurn } from "../../../src/turns/kept-work.ts";
import { type Facts, type Standing, standingOf } from "../../../src/turns/standing.ts";
import { unfinishedBefore } from "../../../src/turns/unfinished.ts";
import { turnRow } from "../../../step/memory/turn-row.ts";
import { identityOf } from "../../support/turn-identity.ts";

const github = [undefined, "published", "pushed", "merged", "closed", "gone"] as const;
const kept = [undefined, "made", "unfinished", "pushed", "nothing", "failed", "begun"] as const;
const stored = [undefined, "open", "completed", "nothing", "kept", "unfinished", "failed"] as const;
const all: Facts[] = github.flatMap((one) =>
  kept.flatMap((two) =>
    stored.flatMap((three) =>
      [false, true].map((isPassed) => ({ github: one, kept: two, stored: three, isPassed }) satisfies Facts),
    ),
  ),
);

test("a later source fills gaps, and never overrules an earlier one, but a turn that completed has", () => {
  for (const facts of all) {
    const standing = standingOf(facts);
    if (facts.stored === "completed") expect(standing, JSON.stringify(facts)).toBe("completed");
    else if (facts.github) expect(standing, JSON.stringify(facts)).toBe(standingOf({ github: facts.github }));
    else if (facts.kept && !["begun", "failed"].includes(facts.kept))
      expect(standing).toBe(standingOf({ kept: facts.kept }));
    else if (facts.stored && facts.stored !== "open") expect(standing).toBe(standingOf({ stored: facts.stored }));
    else if (facts.kept === "failed") expect(standing).toBe("failed");
    else expect(standing === "none").toBe(!facts.kept && !facts.stored);
  }
});

const base: TurnCopy = {
  id: 1,
  identity: identityOf(1),
  prompt: "Document the API.",
  state: "failed",
  attempts: 1,
  startedAt: 100,
  endedAt: 200,
  answer: null,
};

/** The turn as a cached job has it, if that knows one. */
const copies: Readonly<Record<string, Partial<TurnCopy>>> = {
  open: { state: "running", endedAt: null },
  completed: { state: "completed" },
  kept: { kept: "push" },
  unfinished: { kept: "unfinished" },
  failed: { kept: null },
};

/** Returns what a re-run of the turn's step does, and what the next turn of its job. */
function effectsOf(facts: Facts): [string, string] {
  const copy = facts.stored && { ...base, ...copies[facts.stored] };
  const found = facts.github || facts.kept ? base : undefined;
  const row = turnRow(facts, found, copy);
  const isOpen = row.state === "running";
  const turn: EarlierTurn = {
    jobId: "job_1",
    turnId: "1",
    request: "r",
    over: row.state === "failed" ? "failed" : undefined,
    hasOtherPrompt: false,
    isKept: row.kept === "push" || row.kept === "pull-request",
    isUnfinished: row.kept === "unfinished",
  };
  const none = { attempts: [], record: "unknown", over: new Set<string>(), keepsWords: false } as const;
  const decision = decide({ service: turn, hadAnnounced: true, ...none });
  const turns = [row, { ...base, id: 2, state: "waiting", attempts: 0 }] as StoredTurn[];
  const isPublishedFirst = findKeptTurn({ id: 2 }, turns)?.kept === row.kept && turn.isKept;
  const isBegunIn = unfinishedBefore({ id: 2 }, turns).inRow.length > 0;
  // An interrupted turn takes up its own commit; without one, its agent runs.
  const own = isOpen ? (facts.github || facts.kept === "made" ? "publish" : "run") : undefined;
  const sent = decision.do === "send" ? (decision.publishes ? "publish" : decision.to ? "begin" : "run") : "result";
  const next = isPublishedFirst || own === "publish" ? "publish" : isBegunIn ? "begin" : "run";
  return [own ?? sent, next];
}

const byRerun: Readonly<Record<string, string>> = {
  result: "shows that result",
  publish: "publishes it, without an agent",
  begin: "runs the agent in it, unless the session has a newer job",
  run: "runs the agent",
};
const byNext: Readonly<Record<string, string>> = {
  publish: "publishes it first",
  begin: "its agent begins in it",
  run: "its agent runs",
};

/** What people read. */
const rows: readonly [known: string, Standing[]][] = [
  [
    "it is in a pull request, now open, closed or merged; or it changed nothing",
    ["published", "completed", "no change"],
  ],
  ["its commit is kept, or on the branch without a pull request", ["made", "pushed"]],
  ["what it left is kept unfinished", ["unfinished"]],
  ["it failed, was stopped, or its runner was lost before its agent's end", ["failed", "begun", "lost"]],
];

test("what follows depends on what became of the turn alone, and the page about the memory shows that", () => {
  const lines = rows.map(([known, standings]) => {
    // In a copy, a turn that changed nothing has completed like any other.
    const found = all.filter((facts) => facts.stored !== "nothing" && standings.includes(standingOf(facts)));
    const effects = found.map((facts) => effectsOf(facts).join(" | "));
    const [effect = "", ...others] = new Set(effects);
    expect([known, others]).toEqual([known, []]);
    const [rerun = "", next = ""] = effect.split(" | ");
    return `| ${known} | ${byRerun[rerun]} | ${byNext[next]} |`;
  });
  const head = "| what became of the turn | a re-run of its step | the job's next request |";
  const table = [head, "| --- | --- | --- |", ...lines].join("\n");
  console.log(table);
  expect(readFileSync(resolve(root, "docs/memory.md"), "utf8")).toContain(table);
});
