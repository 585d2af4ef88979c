import { expect, test } from "vitest";
import type { JobCopy, StoredTurn, TurnCopy } from "../../../src/model.ts";
import { findKeptTurn } from "../../../src/turns/kept-work.ts";
import type { Facts } from "../../../src/turns/standing.ts";
import { unfinishedBefore } from "../../../src/turns/unfinished.ts";
import { mergeCopies } from "../../../step/memory/merge-copies.ts";
import { lostReason } from "../../../step/memory/turn-row.ts";
import { identityOf } from "../../support/turn-identity.ts";

const link = "https://github.com/acme/docs/pull/1";
const turn = (id: number, state: TurnCopy["state"] = "completed", prompt = "kept"): TurnCopy => ({
  id,
  identity: identityOf(id),
  prompt,
  state,
  attempts: 1,
  startedAt: id * 100,
  endedAt: state === "completed" || state === "failed" ? id * 1000 : null,
  answer: `${prompt} answer`,
});
const pushed = (id: number, state: TurnCopy["state"] = "completed"): TurnCopy => ({
  ...turn(id, state, "told"),
  attempts: 2,
});
const kept = (turns: TurnCopy[], job: Partial<JobCopy> = {}): JobCopy => ({
  id: "job_1",
  project: "docs",
  createdAt: 500,
  archivedAt: null,
  pullRequest: null,
  head: "a".repeat(40),
  base: null,
  turns,
  ...job,
});
const factsOf = ({ state, kept: left }: TurnCopy): Facts => {
  if (state === "completed") return { github: "published" };
  if (left === "pull-request") return { github: "pushed" };
  return { kept: left === "push" ? "made" : (left ?? "failed") };
};
const rebuilt = (turns: TurnCopy[], job: Partial<JobCopy> = {}, target?: string) => ({
  target,
  facts: new Map(turns.map((one) => [one.id, factsOf(one)])),
  job: kept(turns, { createdAt: 900, pullRequest: link, head: "b".repeat(40), ...job }),
  unnamedTurn: pushed(99),
});

test("a copy that is as new as the branch keeps its texts and its session", () => {
  const { job, isSessionCurrent } = mergeCopies(kept([turn(1), turn(2, "failed")]), rebuilt([pushed(1)]));
  expect(isSessionCurrent).toBe(true);
  expect(job).toEqual(kept([turn(1), turn(2, "failed")], { pullRequest: link, head: "b".repeat(40) }));
});

test.each<
  [name: string, base: string | null, ofCopy: string | null, target: string | undefined, expected: string | null]
>([
  ["that no commit names is the copy's", null, "feature", undefined, "feature"],
  ["that a commit names is that", "feature", "other", undefined, "feature"],
  ["that the pull request targets is that", "other", "feature", "other", "other"],
  ["whose pull request targets the project's is that, by its name", null, "feature", "main", "main"],
  ["that nobody has named is the project's", null, null, "main", null],
])("a base %s", (_name, base, ofCopy, target, expected) => {
  const found = rebuilt([pushed(1)], { base }, target);
  expect(mergeCopies(kept([turn(1)], { base: ofCopy }), found).job.base).toBe(expected);
});

test.each([
  ["the cache does not know", undefined],
  ["the cache has as open", turn(2, "running")],
])("a lost runner's turn that %s does not hide what was unfinished before it", (_which, copy) => {
  const left = { ...turn(1, "failed"), kept: "unfinished" } as const;
  const found = rebuilt([left, pushed(2, "failed")]);
  found.facts.set(2, { kept: "begun" });
  const { job } = mergeCopies(kept([left, ...(copy ? [copy] : [])]), found);
  expect(job.turns[1]).toMatchObject({ state: "failed", attempts: 0 });
  expect(unfinishedBefore({ id: 3 }, job.turns as StoredTurn[]).inRow).toMatchObject([{ id: 1 }]);
});

test("turns that only the branch has are added, and the session is too old", () => {
  const { job, isSessionCurrent } = mergeCopies(kept([turn(1)]), rebuilt([pushed(1), pushed(2)]));
  expect(job.turns).toEqual([turn(1), pushed(2)]);
  expect(isSessionCurrent).toBe(false);
});

test("a turn that was open when the copy was saved, and pushed since, is completed", () => {
  const { job, isSessionCurrent } = mergeCopies(kept([turn(1), turn(2, "running")]), rebuilt([pushed(1), pushed(2)]));
  expect(job.turns[1]).toMatchObject({ prompt: "kept", state: "completed", endedAt: 2000 });
  expect(isSessionCurrent).toBe(false);
});

test("a turn that failed in the copy has completed if its commit is in a pull request", () => {
  const failed: TurnCopy = { ...turn(1, "failed"), kept: "push", reason: "Refused." };
  const { job } = mergeCopies(kept([failed]), rebuilt([pushed(1)]));
  expect(job.turns).toEqual([{ ...failed, state: "completed", kept: null, reason: null, endedAt: 1000 }]);
  expect(mergeCopies(kept([failed]), rebuilt([])).job.turns).toEqual([failed]);
});

test("a turn that was to publish the work of its own request is completed once that is published", () => {
  const asked = { step: "s", promptHash: identityOf(7), covers: null };
  const failed: TurnCopy = {
    ...turn(1, "failed"),
    ...asked,
    kept: "pull-request",
    stage: "pushed",
    reason: "Refused.",
  };
  const second = (more: Partial<TurnCopy>): TurnCopy | undefined => {
    const open = { ...turn(2, "running"), ...asked, attempts: 0, ...more };
    return mergeCopies(kept([failed, open]), rebuilt([{ ...pushed(1), ...asked }])).job.turns[1];
  };
  const completed = { state: "completed", endedAt: 1000, answer: failed.answer, reason: null };
  expect(second({})).toMatchObject(completed);
  expect(second({ state: "failed", reason: lostReason })).toMatchObject(completed);
  expect(second({ state: "failed", reason: "It did not work." })).toMatchObject({ state: "failed" });
  // It could not publish it either.
  const passedOn = { state: "failed", reason: "Refused.", kept: "pull-request" } as const;
  expect(second(passedOn)).toMatchObject({ ...completed, kept: null });
  expect(second({ ...passedOn, step: "other" })).toMatchObject({ state: "failed", kept: null });
  // The range of a re-run may begin elsewhere.
  expect(second({ covers: "c".repeat(40) })).toMatchObject(completed);
  for (const other of [{ promptHash: identityOf(8) }, { step: "other" }])
    expect(second(other)).toMatchObject({ state: "running" });
  const isKept = mergeCopies(kept([failed, { ...turn(2, "running"), ...asked }]), rebuilt([]));
  expect(isKept.job.turns[1]).toMatchObject({ state: "running" });
});

test("a turn that was to publish a change that others have published has none, as the one that made that", () => {
  const asked = { step: "s", promptHash: identityOf(7), covers: null };
  const failed: TurnCopy = { ...turn(1, "failed"), ...asked, kept: "push", stage: "made", made: '{"commit":"c1"}' };
  const found = rebuilt([{ ...pushed(1), ...asked }]);
  found.facts.set(1, { kept: "nothing" });
  const { turns } = mergeCopies(kept([failed, { ...turn(2, "running"), ...asked, attempts: 0 }]), found).job;
  const unchanged = { state: "completed", kept: null, made: "{}" };
  expect(turns).toMatchObject([unchanged, unchanged]);
});

test("a turn that could not publish an earlier one's work keeps nothing once that is published", () => {
  const maker: TurnCopy = { ...turn(1, "failed"), kept: "pull-request", stage: "pushed" };
  const other: TurnCopy = { ...turn(2, "failed", "other"), attempts: 0, kept: "pull-request" };
  const open: TurnCopy = { ...turn(3, "running", "other"), attempts: 0 };
  const next = (turns: TurnCopy[], onGitHub: TurnCopy) =>
    findKeptTurn({ id: 3 }, mergeCopies(kept(turns), rebuilt([onGitHub])).job.turns as StoredTurn[])?.id;
  expect(next([maker, other, open], { ...pushed(1, "failed"), kept: "pull-request" })).toBe(1);
  expect(next([maker, other, open], pushed(1))).toBeUndefined();
  // What it has made itself may be where only its copy tells.
  const own: TurnCopy = { ...other, attempts: 1, kept: "push", stage: "made" };
  expect(next([maker, own, open], pushed(1))).toBe(2);
});

test.each(["push", "unfinished"] as const)(
  "what a turn left since a copy took it for lost is its own, and of when it was made (%s)",
  (left) => {
    const lost = { ...turn(2, "failed"), attempts: 0, reason: lostReason, stage: null, kept: null };
    const found = { ...pushed(2, "failed"), kept: left, stage: "made", endedAt: 7000, reason: null } as const;
    const { job } = mergeCopies(kept([{ ...turn(1), stage: "published" }, lost]), rebuilt([pushed(1), found]));
    const reason = expect.not.stringContaining("lost");
    expect(job.turns[1]).toMatchObject({
      prompt: "kept",
      kept: left,
      attempts: 2,
      stage: "made",
      endedAt: 7000,
      reason,
    });
  },
);

test("a check that has failed counts if the copy does not know it, and one that has passed if only the copy knows it", () => {
  const [failed, passed] = (["failed", "passed"] as const).map((checkResult) => ({ checkResult, checkOutput: "…" }));
  const check = (known: Partial<TurnCopy> | undefined, told: Partial<TurnCopy> | undefined) =>
    mergeCopies(kept([{ ...turn(1, "running"), ...known }]), rebuilt([{ ...pushed(1), ...told }])).job.turns[0];
  expect(check(undefined, failed)).toMatchObject({ state: "completed", ...failed });
  expect(check({ checkResult: null }, failed)).toMatchObject({ state: "completed", ...failed });
  expect(check(passed, undefined)).toMatchObject({ state: "completed", ...passed });
});

test("what a check has shown of a commit whose push was refused is not told of the one that a later run has pushed", () => {
  const checked = { checkResult: "passed", checkOutput: "" } as const;
  const merged = (kept_: TurnCopy["kept"], told: Partial<TurnCopy> = {}) =>
    mergeCopies(kept([{ ...turn(1, "failed"), kept: kept_, ...checked }]), rebuilt([{ ...pushed(1), ...told }])).job
      .turns[0]?.checkResult;
  expect([merged("push"), merged("push", { checkResult: "failed" }), merged("pull-request")]).toEqual([
    undefined,
    "failed",
    "passed",
  ]);
});

test("a turn that was interrupted is not run again if a later one has run since", () => {
  const { job } = mergeCopies(kept([turn(1), turn(2, "running")]), rebuilt([pushed(1), pushed(3)]));
  expect(job.turns.map(({ id, state }) => [id, state])).toEqual([
    [1, "completed"],
    [2, "failed"],
    [3, "completed"],
  ]);
  expect(job.turns[1]?.reason).toContain("a later turn of the job has run since");
});

test("the pull request of a completed turn is known, although GitHub shows its commit without one of the account", () => {
  const unopened: TurnCopy = { ...pushed(1, "failed"), kept: "pull-request" };
  const merged = mergeCopies(kept([turn(1)], { pullRequest: link }), rebuilt([unopened], { pullRequest: null }));
  expect(merged.job).toMatchObject({ pullRequest: link, turns: [{ state: "completed" }] });
  const open = mergeCopies(
    kept([turn(1, "running")], { pullRequest: link }),
    rebuilt([unopened], { pullRequest: null }),
  );
  expect(open.job).toMatchObject({ turns: [{ state: "running" }] });
});

test("work that is only kept is not taken for what is on a branch, which somebody has deleted", () => {
  const failed: TurnCopy = { ...turn(1, "failed"), head: "a".repeat(40), kept: "pull-request", reason: "Refused." };
  const made = { ...pushed(1, "failed"), kept: "push" as const };
  expect(mergeCopies(kept([failed]), rebuilt([made], { head: null })).job.turns).toMatchObject([
    { state: "failed", kept: "push", head: null, reason: "Refused." },
  ]);
  // Its runner ended before it opened a pull request.
  const waiting: TurnCopy = { ...turn(1, "waiting"), head: "a".repeat(40) };
  expect(mergeCopies(kept([waiting]), rebuilt([made], { head: null })).job.turns).toMatchObject([
    { state: "waiting", head: null },
  ]);
});

test("a turn that was interrupted last still waits, and takes the job out of the archive", () => {
  const merged = mergeCopies(kept([turn(1), turn(2, "waiting")]), rebuilt([pushed(1)], { archivedAt: 7000 }));
  expect(merged.job).toMatchObject({
    archivedAt: null,
    turns: [{ state: "completed" }, { state: "waiting", attempts: 1 }],
  });
  expect(merged.isSessionCurrent).toBe(true);
});

test("a lost turn that has left nothing hides nothing, but one whose commit the cache may have goes on", () => {
  const lost = (stage: TurnCopy["stage"]) => {
    const found = rebuilt([pushed(1)]);
    found.job.turns.push(pushed(2, "failed"));
    found.facts.set(2, { kept: "begun" });
    return mergeCopies(kept([turn(1), { ...turn(2, "running"), stage }]), found).job.turns[1];
  };
  expect(lost("begun")).toMatchObject({ state: "failed", attempts: 0 });
  expect(lost("made")).toMatchObject({ state: "running", attempts: 1 });
});

test("GitHub decides whether the pull request is closed", () => {
  const old = kept([turn(1)], { archivedAt: 3000, pullRequest: `${link}0` });
  expect(mergeCopies(old, rebuilt([pushed(1)])).job).toMatchObject({ archivedAt: null, pullRequest: link });
  expect(mergeCopies(old, rebuilt([pushed(1)], { archivedAt: 7000 })).job.archivedAt).toBe(7000);
  // A pull request that somebody else opened.
  expect(mergeCopies(old, rebuilt([pushed(1)], { pullRequest: null })).job).toMatchObject({
    archivedAt: 3000,
    pullRequest: `${link}0`,
  });
  // Or one that was merged without the last commit.
  const left: TurnCopy = { ...pushed(2, "failed"), kept: "pull-request" };
  expect(mergeCopies(old, rebuilt([pushed(1), left], { pullRequest: null })).job).toMatchObject({
    archivedAt: null,
    pullRequest: null,
  });
});

test("a turn that was open when the copy was saved, and left its work unfinished, has ended as that says", () => {
  const left = { state: "failed", kept: "unfinished", reason: "The agent timed out.", endedAt: 2000 } as const;
  const { job } = mergeCopies(kept([turn(1), turn(2, "running")]), rebuilt([pushed(1), { ...pushed(2), ...left }]));
  expect(job.turns[1]).toEqual({ ...turn(2, "running"), ...left });
});

test.each([
  ["nothing", null, link],
  ["unfinished work", "unfinished", link],
  ["work that was not pushed", "push", link],
  ["work without a pull request", "pull-request", null],
] as const)("a pull request that somebody else opened counts beside %s: %s", (_, left, expected) => {
  const turns = [{ ...pushed(1, "failed"), kept: left }];
  const { job } = mergeCopies(kept([turn(1, "failed")], { pullRequest: link }), rebuilt(turns, { pullRequest: null }));
  expect(job.pullRequest).toBe(expected);
});
