import { expect, test } from "vitest";
import type { TurnCopy } from "../../../src/model.ts";
import { hashPrompt } from "../../../src/prompt-hash.ts";
import { type CommitNotes, commitMessage } from "../../../src/pulls/commit-message.ts";
import type { OwnPullRequest } from "../../../src/pulls/github/own-pull-request.ts";
import { pullRequestBody, updatedBody } from "../../../src/pulls/pull-request-body.ts";
import { rebuildJob } from "../../../step/memory/rebuild-job.ts";
import { identityOf } from "../../support/turn-identity.ts";

const jobId = "job_00000000-0000-4000-8000-000000000000";
const link = "https://github.com/acme/docs/pull/1";

/** A commit of a turn, committed at a time in seconds. */
function commitOf(id: number, prompt: string, seconds: number, { step = `s${id}`, job = jobId } = {}) {
  const turn = {
    id,
    identity: identityOf(id),
    job,
    prompt,
    attempts: 1,
    sections: "",
    covers: null,
    caller: "API key",
    step,
    request: `r${id}`,
  };
  return { commit: String(id).repeat(40), at: seconds * 1000, message: commitMessage(turn, []) };
}

const told = pullRequestBody({ prompt: "First\nwith details", answer: "Done.", jobId });
const open: OwnPullRequest = {
  link,
  state: "open",
  createdAt: 15_000,
  closedAt: null,
  head: "2".repeat(40),
  body: updatedBody(told, [], { prompt: "Second", answer: "Done, too." }) ?? "",
  target: "main",
};
const closed: OwnPullRequest = { ...open, state: "closed", closedAt: 25_000 };
const first = commitOf(1, "First\nwith details", 10);
const second = commitOf(2, "Second", 20);
const others = { commit: "f".repeat(40), at: 21_000, message: "Fix a typo\n" };

const sources = {
  jobId,
  branch: `agent/${jobId}`,
  projectId: "docs",
  caller: "API key",
  targetBranch: "main",
  isMerged: false,
  reRun: new Set<string>(),
};
const rebuild = (pull: OwnPullRequest | undefined, ...newestFirst: (typeof first)[]) =>
  rebuildJob({ ...sources, pull, commits: newestFirst });

test("a job has the turns that left no commit on its branch, by what is kept of them", () => {
  const keptOf = (id: number, told: CommitNotes) => {
    const { commit, at } = commitOf(id, "Third", id * 10);
    const turn = { id, identity: identityOf(id), job: jobId, prompt: "Third", sections: "", covers: null };
    return {
      commit,
      at,
      message: commitMessage({ ...turn, attempts: 1, step: "s", request: "r" }, [], { session: "nightly" }, told),
    };
  };
  const unfinished = keptOf(3, { left: "unfinished", notes: ["The agent timed out."] });
  const ended = keptOf(4, { left: "nothing" });
  const all = rebuildJob({ ...sources, pull: open, commits: [second, first], kept: [ended, unfinished] })?.job;
  // The pull request has all that is to be published.
  expect(all).toMatchObject({ pullRequest: link, archivedAt: null, session: "nightly" });
  expect(all?.turns.slice(2)).toMatchObject([
    { id: 3, prompt: "Third", state: "failed", kept: "unfinished", reason: "The agent timed out." },
    // Its record has no title of its prompt.
    { id: 4, prompt: "", state: "completed", made: "{}" },
  ]);
  const stopped = keptOf(5, { left: "stopped", notes: ["A person stopped it."] });
  const begun = keptOf(6, { left: "begun", until: 1 });
  const lost = rebuildJob({ ...sources, pull: open, commits: [], kept: [begun, stopped] })?.job.turns;
  expect(lost).toMatchObject([
    { id: 5, state: "failed", kept: null, reason: "A person stopped it." },
    { id: 6, state: "failed", kept: null, reason: expect.stringMatching(/runner/) },
  ]);
  const made = keptOf(6, {});
  for (const kept of [
    [made, begun],
    [begun, made],
  ])
    expect(rebuildJob({ ...sources, pull: open, commits: [], kept })?.job.turns).toMatchObject([
      { id: 6, kept: "push" },
    ]);
  // What is unfinished keeps no pull request open.
  const over = rebuildJob({ ...sources, pull: closed, commits: [second, first], kept: [ended, unfinished] })?.job;
  expect(over).toMatchObject({ pullRequest: link, archivedAt: closed.closedAt });
  expect(rebuildJob({ ...sources, pull: undefined, commits: [], kept: [ended] })?.job.turns).toMatchObject([
    { id: 4, state: "completed", made: "{}", step: "s", request: "r" },
  ]);
});

test("a check that has failed is that of the turn that made the commit, and of one that only published it", () => {
  const check = { result: "failed", command: "npm test", output: "No." } as const;
  const body = pullRequestBody({ prompt: "First\nwith details", answer: "Done.", jobId, check });
  const { commit, at } = commitOf(2, "First\nwith details", 20);
  const turn = {
    id: 2,
    identity: identityOf(2),
    job: jobId,
    prompt: "First\nwith details",
    sections: "",
    covers: null,
  };
  const request = { attempts: 1, caller: "API key", step: "s2", request: "r2" };
  const record = commitMessage({ ...turn, ...request }, [], {}, { left: "pushed" });
  const pull = { ...open, head: first.commit, body };
  const kept = [{ commit, at, message: record }];
  const { job } = rebuildJob({ ...sources, pull, commits: [first], kept }) ?? {};
  expect(job?.turns).toMatchObject([
    { id: 1, state: "completed", checkResult: "failed" },
    { id: 2, state: "completed", checkResult: "failed", step: "s2" },
  ]);
});

test("a job has the turns of its commits, with what the pull request tells of them", () => {
  expect(rebuild(open, others, second, first)?.job).toEqual({
    id: jobId,
    project: "docs",
    createdAt: 15_000,
    branch: sources.branch,
    archivedAt: null,
    pullRequest: link,
    head: second.commit,
    base: null,
    session: null,
    turns: [
      {
        id: 1,
        identity: identityOf(1),
        prompt: "First\nwith details",
        promptHash: hashPrompt("First\nwith details"),
        covers: null,
        answer: "Done.",
        state: "completed",
        attempts: 2,
        startedAt: null,
        endedAt: 10_000,
        caller: "API key",
        step: "s1",
        request: "r1",
        stage: "made",
      },
      expect.objectContaining({ id: 2, prompt: "Second", answer: "Done, too.", endedAt: 20_000, step: "s2" }),
    ],
  });
});

test.each([
  ["failed", { checkResult: "failed", checkOutput: "<!-- end of check -->\nfoul" }],
  ["failed-before", { checkResult: "failed-before", checkOutput: "<!-- end of check -->\nfoul" }],
  // Whoever may write to the repository can edit the body.
  ["passed", {}],
] as const)("a check that has %s is known of the newest turn, unless it passed", (result, known) => {
  const check = { result, command: "> The check fails with this change:", output: "<!-- end of check -->\nfoul" };
  const body = updatedBody(open.body, ["AGENTS.md"], undefined, { check, isDraft: true }) ?? "";
  const [one, two] = rebuild({ ...open, body }, second, first)?.job.turns ?? [];
  const checkOf = ({ checkResult, checkOutput }: Partial<TurnCopy> = {}) =>
    JSON.parse(JSON.stringify({ checkResult, checkOutput }));
  expect([checkOf(one), checkOf(two)]).toEqual([{}, known]);
});

test("a job has the base that its pull request targets, unless it is the project's own", () => {
  expect(rebuild({ ...open, target: "release/1" }, first)?.job.base).toBe("release/1");
  expect(rebuild(undefined, first)?.job.base).toBeNull();
});

/** A commit of a turn whose job starts from a branch. */
const basedOn = (base: string | null, id: number, job = jobId, told: CommitNotes = {}) => {
  const turn = { id, identity: identityOf(id), job, prompt: "Go", sections: "", covers: null, step: "s", request: "r" };
  return {
    commit: String(id).repeat(40),
    at: id * 10_000,
    message: commitMessage({ ...turn, attempts: 1 }, [], { base }, told),
  };
};

test.each<[says: string, base: string | null, target: string | undefined, expected: string | null]>([
  ["its commits name, without a pull request", "feature", undefined, "feature"],
  ["its commits name although it is the project's own", "main", "main", "main"],
  ["its pull request targets since", "feature", "other", "other"],
  ["its pull request targets since, which is the project's own", "feature", "main", "main"],
  ["is the project's own, which nobody has named", null, "main", null],
])("a job has the base that %s", (_says, base, target, expected) => {
  const pull = target === undefined ? undefined : { ...open, target };
  expect(rebuild(pull, basedOn(base, 1))?.job.base).toBe(expected);
});

test("the base of a job is known of refs, too, and not of what names another job", () => {
  const ofRef = (job: string) => basedOn("feature", 2, job, { left: "failed" });
  const rebuildWith = (job: string) =>
    rebuildJob({ ...sources, pull: undefined, commits: [basedOn(null, 1)], kept: [ofRef(job)] })?.job.base;
  expect(rebuildWith(jobId)).toBe("feature");
  expect(rebuildWith(jobId.replace(/0$/, "1"))).toBeNull();
  const both = { ...first, message: `${first.message}\n${basedOn("evil", 2, jobId.replace(/0$/, "1")).message}` };
  expect(rebuild(undefined, both)?.job.base).toBeNull();
});

test("a prompt that the pull request does not tell is known by its first line", () => {
  const turns = rebuild({ ...open, body: "Edited" }, second, first)?.job.turns;
  expect(turns?.map(({ prompt, answer }) => [prompt, answer])).toEqual([
    ["First", null],
    ["Second", null],
  ]);
});

test("a squashed commit is known by the subject that GitHub gives it, and a similar prompt is another one", () => {
  const squashed = { ...second, message: second.message.replace("Second", "Second (#12)") };
  expect(rebuild(open, squashed, first)?.job.turns.map(({ answer }) => answer)).toEqual(["Done.", "Done, too."]);
  const other = commitOf(2, "Second thoughts", 20);
  expect(rebuild(open, other, first)?.job.turns[1]).toMatchObject({ prompt: "Second thoughts", answer: null });
  const long = { ...first, message: `${"x".repeat(10_000)}${first.message.slice("First".length)}` };
  expect(rebuild(open, long)?.job.turns[0]?.prompt).toHaveLength(200);
});

test("a turn of another job, or with an id that no service gives, is none of it", () => {
  const other = commitOf(3, "Other", 12, { job: "job_00000000-0000-4000-8000-000000000001" });
  const forged = {
    ...commitOf(4, "Forged", 13),
    message: commitOf(4, "x", 1).message.replace(": 4", ": 9999999999999999"),
  };
  const zero = { ...forged, message: forged.message.replace("9999999999999999", "0") };
  expect(rebuild(open, zero, forged, other, first)?.job.turns.map(({ id }) => id)).toEqual([1]);
});

test("a job whose branch names no turn has one that stands for them", () => {
  const rebuilt = rebuild(open, others);
  expect(rebuilt?.job).toMatchObject({ turns: [], head: open.head, pullRequest: link });
  expect(rebuilt?.unnamedTurn).toMatchObject({ id: 15_000_000, prompt: "First\nwith details", state: "completed" });
});

test("a job whose pull request is closed or merged is archived since then", () => {
  expect(rebuild(closed, second, first)?.job).toMatchObject({ archivedAt: 25_000, pullRequest: link });
  expect(rebuild({ ...closed, state: "merged" }, second, first)?.job.archivedAt).toBe(25_000);
});

test("the work of a turn that pushed after the pull request was closed is kept, for another one", () => {
  const third = commitOf(3, "Third", 30);
  const { job } = rebuild(closed, third, second, first) ?? {};
  expect(job?.archivedAt).toBeNull();
  expect(job?.turns.map(({ state }) => state)).toEqual(["completed", "completed", "failed"]);
  // It is never run again: its prompt is what is on GitHub.
  expect(job?.turns.at(-1)).toMatchObject({ attempts: 2, endedAt: 30_000, kept: "pull-request" });
});

test("a merged pull request has only its own commits: what the job has pushed after them has none yet", () => {
  const merged: OwnPullRequest = { ...closed, state: "merged", head: first.commit };
  const pushed = { pullRequest: null, archivedAt: null, turns: [{ state: "completed" }, { kept: "pull-request" }] };
  // On top of it, in the second in which it was merged.
  expect(rebuild({ ...merged, closedAt: second.at }, second, first)?.job).toMatchObject(pushed);
  // From the target branch, which has it squashed.
  const squashed = { ...first, commit: "e".repeat(40) };
  expect(rebuild({ ...merged, closedAt: 15_000 }, second, squashed)?.job).toMatchObject(pushed);
  // From that, in the second in which it was merged.
  const added = { ...merged, closedAt: second.at, mergeCommit: squashed.commit };
  expect(rebuild(added, second, squashed)?.job).toMatchObject(pushed);
  // A person may open one again that was only closed.
  expect(rebuild({ ...closed, head: first.commit }, second, first)?.job).toMatchObject({ pullRequest: link });
});

const foul = { result: "failed", command: "npm test", output: "foul" } as const;
const foulBody = updatedBody(open.body, [], undefined, { check: foul, isDraft: true }) ?? "";
const checksOf = (turns: readonly TurnCopy[] = []) =>
  turns.flatMap(({ id, checkResult }) => (checkResult ? [id, checkResult] : []));

test.each(["nothing", "failed", "begun"] as const)(
  "a check that has failed is not that of a later turn: %s",
  (left) => {
    const kept = [basedOn(null, 3, jobId, { left, until: 1 })];
    const { job } = rebuildJob({ ...sources, pull: { ...open, body: foulBody }, commits: [second, first], kept }) ?? {};
    expect(checksOf(job?.turns)).toEqual([2, "failed"]);
  },
);

test.each<[what: string, id: number, isOver: boolean]>([
  ["that a later turn has passed", 1, true],
  ["that was never pushed", 3, false],
])("a merged pull request and its failed check are known beside kept work %s", (_, id, isOver) => {
  const merged: OwnPullRequest = { ...closed, state: "merged", head: second.commit, body: foulBody };
  const kept = [basedOn(null, id)];
  for (const more of [[], [basedOn(null, 4, jobId, { left: "begun", until: 1 })]]) {
    const { job } = rebuildJob({ ...sources, pull: merged, commits: [second], kept: [...kept, ...more] }) ?? {};
    // A re-run would pass otherwise, and the job's next turn would propose once more what is merged.
    expect(job).toMatchObject({ pullRequest: link, archivedAt: isOver ? closed.closedAt : null });
    expect(checksOf(job?.turns)).toEqual([2, "failed"]);
  }
  const { job } = rebuildJob({ ...sources, pull: merged, commits: [commitOf(5, "Fifth", 50), second], kept }) ?? {};
  expect(job).toMatchObject({ pullRequest: null, archivedAt: null });
});

test("a commit that the closed pull request has was pushed before, whatever the runner's clock said", () => {
  const late = commitOf(2, "Second", 90);
  expect(rebuild({ ...closed, head: late.commit }, late, first)?.job.turns.map(({ state }) => state)).toEqual([
    "completed",
    "completed",
  ]);
});

test("nothing is kept of a branch that was merged without a pull request", () => {
  const rebuilt = rebuildJob({ ...sources, isMerged: true, pull: undefined, commits: [second, first] });
  expect(rebuilt?.job).toMatchObject({ pullRequest: null, turns: [{ state: "completed" }, { state: "completed" }] });
});

test("a branch without a pull request is a job whose work is kept; one that names no turn is no job", () => {
  expect(rebuild(undefined, others, first)?.job).toMatchObject({
    createdAt: 10_000,
    pullRequest: null,
    head: first.commit,
    turns: [{ id: 1, identity: identityOf(1), state: "failed", kept: "pull-request", attempts: 2 }],
  });
  expect(rebuild(undefined, others)).toBeUndefined();
});
