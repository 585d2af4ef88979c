import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { GitRepository } from "../../../src/git/git-repository.ts";
import { thisMachine } from "../../../src/machine.ts";
import type { RunningTurn } from "../../../src/model.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { isForSecret } from "../../../src/turns/refusal.ts";
import { KeptOnRefs } from "../../../step/memory/kept-on-refs.ts";
import { docsRepository } from "../../support/agent-service.ts";
import { identityOf } from "../../support/turn-identity.ts";

const job = "job_00000000-0000-4000-8000-000000000001";
const branch = `agent/${job}`;
const turn: RunningTurn = {
  id: 1,
  identity: identityOf(1),
  job,
  prompt: "Write it",
  sections: "",
  covers: null,
  attempts: 0,
  step: "s1",
  request: "r1",
  lease: "l",
  isResumed: false,
};

/** A repository on this machine, with a runner that has made a commit, and what another runner finds. */
async function setUp(
  edit: (tree: string) => void = (tree) => writeFileSync(join(tree, "new.md"), "New\n"),
  maker: RunningTurn = turn,
) {
  const docs = docsRepository();
  const git = (...args: string[]): string =>
    execFileSync("git", ["-C", docs.path, "-c", "user.name=W", "-c", "user.email=w@example.com", ...args], {
      encoding: "utf8",
    });
  const log: string[] = [];
  const open = async () => {
    const folder = temporaryFolder();
    const repository = new GitRepository({ url: docs.path, folder });
    await repository.open();
    const kept = new KeptOnRefs({
      refs: repository.workRefs,
      machine: thisMachine,
      log: (line) => void log.push(line),
    });
    return { repository, kept, folder };
  };
  const runner = await open();
  const { repository } = runner;
  const options = { isMerged: false, mergedHead: undefined, lastPushed: null, own: new Set<string>(), bases: [] };
  const start = await repository.findStart(branch, options);
  const place = temporaryFolder();
  const worktree = await repository.checkOut(start, { tree: join(place, "tree"), index: join(place, "index") });
  edit(join(place, "tree"));
  const message = commitMessage(maker, [], { session: "nightly" });
  const { commit = "" } = await repository.commit(worktree, message, { maxBytes: 1e9 });
  await repository.keep(commit, job);
  const refs = (): string[] =>
    git("for-each-ref", "--format=%(refname)", "refs/agent-work").split("\n").filter(Boolean);
  const rule = (script: string, hook = "pre-receive"): void => {
    writeFileSync(join(docs.path, "hooks", hook), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  };
  /** While the repository's host refuses to be read. */
  const refused = async <T>(read: () => Promise<T>): Promise<T> => {
    renameSync(docs.path, `${docs.path}.away`);
    return read().finally(() => renameSync(`${docs.path}.away`, docs.path));
  };
  return { git, log, open, runner, commit, refs, rule, refused };
}

test("a commit of any kind of change is the same on another runner, with its id", async () => {
  const { open, runner, commit, refs } = await setUp((tree) => {
    writeFileSync(join(tree, "crlf.md"), "One\r\nTwo\r\n\r");
    writeFileSync(join(tree, "no end.md"), "No line end");
    writeFileSync(join(tree, "empty"), "");
    writeFileSync(join(tree, "image.bin"), Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 31) % 256)));
    writeFileSync(join(tree, "latin.txt"), Buffer.from([0xe9, 0x0a, 0xff, 0x0a]));
    writeFileSync(Buffer.concat([Buffer.from(`${tree}/caf`), Buffer.from([0xe9])]), "An odd name\n");
    writeFileSync(join(tree, 'a "quoted"\tname'), "Quoted\n");
    writeFileSync(join(tree, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
    chmodSync(join(tree, "README.md"), 0o755);
    mkdirSync(join(tree, "deep/er"), { recursive: true });
    symlinkSync("../../README.md", join(tree, "deep/er/link"));
    writeFileSync(join(tree, ".gitattributes"), "*.md text eol=crlf\n*.sh ident\n");
    rmSync(join(tree, "docs"), { recursive: true, force: true });
  });
  await runner.kept.save(turn, await runner.repository.packCommit(job));
  expect(refs()).toEqual([
    expect.stringMatching(/\/job_\S+\/[0-9a-f]{12}\.[0-9a-f]{12}\.[0-9a-f]{12}\.\d{4}-\d\d-\d\d-[0-9a-f]{8}\/made$/),
  ]);
  const other = await open();
  const packed = await other.kept.load(job, turn);
  expect(await other.repository.unpackCommit(job, packed ?? Buffer.of())).toMatchObject({ commit });
  expect([other.kept.jobsOfStep("s1"), other.kept.jobsOfStep("s2")]).toEqual([[job], []]);
  expect(await other.kept.newestJobOf("nightly", new Set())).toMatchObject({ job });
  expect(await other.kept.newestJobOf("weekly", new Set())).toBeUndefined();
  expect(await other.kept.commitsOf(job)).toMatchObject([{ commit, message: expect.stringMatching(/^Write it\n/) }]);
});

test.each(["Write it", "@@ -1,3 +1,4 @@ of a diff", "diff --git a/README.md b/README.md", "--- a/README.md"])(
  "the command that is printed brings any kind of change into a clone: %s",
  async (prompt) => {
    const { git, runner, commit } = await setUp(
      (tree) => {
        writeFileSync(join(tree, "crlf.md"), "One\r\nTwo \r\n\r");
        writeFileSync(join(tree, "README.md"), "No line end,\tand a tab \t");
        writeFileSync(join(tree, "image.bin"), Buffer.from(Array.from({ length: 3000 }, (_, at) => (at * 31) % 256)));
        writeFileSync(Buffer.concat([Buffer.from(`${tree}/caf`), Buffer.from([0xe9])]), "An odd name\n\n\n");
        writeFileSync(join(tree, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
        symlinkSync("README.md", join(tree, "link"));
        rmSync(join(tree, "docs"), { recursive: true, force: true });
      },
      { ...turn, prompt },
    );
    expect(runner.kept.commandFor(turn, "push")).toBeUndefined();
    await runner.kept.save(turn, await runner.repository.packCommit(job));
    const clone = join(temporaryFolder(), "clone");
    const inClone = (...args: string[]): string => execFileSync("git", ["-C", clone, ...args], { encoding: "utf8" });
    execFileSync("git", ["clone", "--quiet", git("rev-parse", "--absolute-git-dir").trim(), clone]);
    for (const setting of ["apply.whitespace=error-all", "core.autocrlf=true"])
      inClone("config", ...setting.split("="));
    expect(runner.kept.commandFor(turn, "unfinished")).toBeUndefined();
    const command = runner.kept.commandFor({ job, identity: identityOf(2) }, "push") ?? "";
    execFileSync("sh", ["-c", command], { cwd: clone, stdio: "pipe" });
    const made = join(runner.folder, "mirror.git");
    const tree = execFileSync("git", ["-C", made, "rev-parse", `${commit}^{tree}`], { encoding: "utf8" });
    expect(inClone("write-tree")).toBe(tree);
    expect(inClone("diff", "--name-only")).toBe("");
  },
);

test("people can read it, clones do not fetch it, and it cannot be merged", async () => {
  const { git, runner, refs } = await setUp();
  await runner.kept.save(turn, await runner.repository.packCommit(job));
  const [ref = ""] = refs();
  expect(git("show", `${ref}:change`)).toMatch(/^agent-work [0-9a-f]+ \d+\ntree [\s\S]*\nWrite it\n[\s\S]*\n\+New\n$/);
  const clone = temporaryFolder();
  execFileSync("git", ["clone", "--quiet", "--bare", git("rev-parse", "--absolute-git-dir").trim(), clone]);
  expect(execFileSync("git", ["-C", clone, "for-each-ref"], { encoding: "utf8" })).not.toContain("agent-work");
  expect(() => git("merge-base", ref, "main")).toThrow();
});

test("a second save takes the place of the first one, and what is published is forgotten", async () => {
  const { open, runner, refs } = await setUp();
  const packed = await runner.repository.packCommit(job);
  await runner.kept.save(turn, packed);
  const [first] = refs();
  await runner.kept.save(turn, packed);
  expect(refs()).toHaveLength(1);
  expect(refs()).not.toEqual([first]);
  // Also by another runner.
  const other = await open();
  await other.kept.forget(turn);
  expect([refs(), other.kept.jobsOfStep("s1")]).toEqual([[], []]);
  await runner.kept.forget({ ...turn, identity: identityOf(2) });
});

test("what tells of a turn without a change stays until it is old, and has nothing to restore", async () => {
  const { open, runner, refs, git } = await setUp();
  await runner.kept.end(turn, commitMessage(turn, [], { session: "nightly" }, { left: "nothing" }, "No change"));
  expect(refs()).toEqual([expect.stringMatching(/\/ended$/)]);
  await runner.kept.forget(turn);
  const other = await open();
  expect(await other.kept.load(job, turn)).toBeUndefined();
  expect(await other.kept.commitsOf(job)).toMatchObject([{ message: expect.stringContaining("Agent-Left: nothing") }]);
  expect(await other.kept.newestJobOf("nightly", new Set())).toMatchObject({ job });
  const [ref = ""] = refs();
  const day = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
  for (const [days, stage] of [
    [32, "ended"],
    [32, "made"],
    [61, "unfinished"],
  ] as const)
    git("update-ref", ref.replace(/\d{4}-\d\d-\d\d-.*/, `${day(days)}-${"0".repeat(8)}/${stage}`), ref);
  await (await open()).kept.tidy();
  expect(refs().map((name) => name.split("/").at(-1))).toEqual(["made", "ended"]);
});

const begun = (until: number): string =>
  commitMessage(turn, [], { session: "nightly" }, { left: "begun", until }, "Begun");
const noSteps: ReadonlySet<string> = new Set();

test("a run that has begun is seen by others until its time, or its step's next attempt", async () => {
  const { open, runner, refs, git } = await setUp();
  const until = Date.now() + 60_000;
  await runner.kept.begin(turn, begun(until));
  expect(refs()).toEqual([expect.stringMatching(/\/begun$/)]);
  expect(await runner.kept.busyJobOf("nightly", noSteps)).toBeUndefined();
  const other = await open();
  expect(await other.kept.busyJobOf("nightly", noSteps)).toEqual({ job, until });
  expect(await other.kept.busyJobOf("nightly", new Set(["s1"]))).toBeUndefined();
  expect(await other.kept.busyJobOf("weekly", noSteps)).toBeUndefined();
  expect(other.kept.jobsOfStep("s1")).toEqual([job]);
  expect(await other.kept.load(job, turn)).toBeUndefined();
  // A newer attempt, of another turn. The older one goes on, and finds its ref gone.
  const again = { ...turn, id: 2, identity: identityOf(2) };
  const message = commitMessage(again, [], { session: "nightly" }, { left: "begun", until: 1_000 }, "Begun");
  await other.kept.begin(again, message);
  expect(refs()).toHaveLength(1);
  await runner.kept.save(turn, await runner.repository.packCommit(job));
  expect(refs().map((ref) => ref.split("/").at(-1))).toEqual(expect.arrayContaining(["begun", "made"]));
  const third = await open();
  expect(await third.kept.busyJobOf("nightly", noSteps)).toBeUndefined();
  await third.kept.end(again, undefined);
  expect(refs()).toEqual([expect.stringMatching(/\/made$/)]);
  // What is kept is not forgotten for an end without a change.
  await third.kept.end(turn, "No change\n");
  expect(refs()).toEqual([expect.stringMatching(/\/made$/)]);
  git("update-ref", refs()[0]?.replace(/[^/]+$/, "begun") ?? "", "main");
  expect(await (await open()).kept.busyJobOf("nightly", noSteps)).toBeUndefined();
});

test("a claim whose answer was lost is replaced by what follows, and released", async () => {
  const { open, refs, rule, log, runner } = await setUp();
  const { kept } = await open();
  // Git has updated the refs, and its connection ends.
  const loseAnswer = () => rule('rm "$0"; kill -9 $PPID', "post-receive");
  loseAnswer();
  expect(await kept.busyJobOf("nightly", new Set(), "s1")).toBeUndefined();
  expect(refs()).toHaveLength(1);
  expect(await runner.kept.busyJobOf("nightly", new Set(), "s2")).toMatchObject({
    job: expect.stringMatching(/^job_0/),
  });
  loseAnswer();
  const message = commitMessage(turn, [], { session: "nightly" }, { left: "begun", until: Date.now() + 60_000 });
  await kept.begin(turn, message);
  expect(refs()).toEqual([expect.stringContaining(job)]);
  await kept.end(turn, undefined);
  await kept.release();
  expect([refs(), log]).toEqual([[], []]);
});

test("a run that has begun names what its agent began in to others of its job, but not to its step's next attempt", async () => {
  const { open, runner } = await setUp();
  const until = Date.now() + 60_000;
  const told = { left: "begun", until, begunIn: [7, 8] } as const;
  await runner.kept.begin(turn, commitMessage(turn, [], { session: "thread" }, told, "Begun"));
  const other = await open();
  const beside = { ...turn, id: 2, identity: identityOf(2), step: "s2" };
  expect(await other.kept.besides(beside)).toMatchObject([{ turn: 1, job, until, begunIn: [7, 8] }]);
  expect(await other.kept.besides({ ...beside, step: "s1" })).toEqual([]);
  expect(await other.kept.besides({ ...beside, job: job.replace(/1$/, "2") })).toEqual([]);
  expect(await runner.kept.besides(beside)).toEqual([]);
  await runner.kept.begin(turn, commitMessage(turn, [], { session: "thread" }, { ...told, until: 1000 }, "Begun"));
  expect(await (await open()).kept.besides(beside)).toEqual([]);
});

test("the next stage is found of a run that takes it between the listing and the reading", async () => {
  const { open, runner } = await setUp();
  await runner.kept.begin(turn, begun(Date.now() + 60_000));
  const other = await open();
  await runner.kept.end(turn, commitMessage(turn, [], { session: "nightly" }, { left: "nothing" }, "No change"));
  expect(await other.kept.commitsOf(job)).toMatchObject([{ message: expect.stringContaining("Agent-Left: nothing") }]);
});

test("work is found below many refs of runners that were lost", async () => {
  const { open, runner, refs, git } = await setUp();
  await runner.kept.begin(turn, begun(1_000));
  const [ref = ""] = refs();
  for (let index = 0; index < 9; index++)
    git("update-ref", ref.replace(/(job_[^/]+)\/[^.]{12}/, `$1/${String(index).repeat(12)}`), ref);
  await runner.kept.save(turn, await runner.repository.packCommit(job));
  const found = await (await open()).kept.commitsOf(job);
  expect(found.filter(({ message }) => !message.includes("Agent-Left"))).toHaveLength(1);
});

test("damaged, planted and foreign refs are named and passed over", async () => {
  const { git, log, open, runner, refs } = await setUp();
  await runner.kept.save(turn, await runner.repository.packCommit(job));
  const [ref = ""] = refs();
  git("update-ref", ref, "main");
  const foreign = ref.replace(/[0-9a-f]{8}\/made$/, "00000000/made");
  git("update-ref", foreign, "main");
  git("update-ref", "refs/agent-work/else", "main");
  const other = await open();
  expect(await other.kept.load(job, turn)).toBeUndefined();
  expect(await other.kept.commitsOf(job)).toEqual([]);
  expect(
    log
      .filter((line) => line.includes("passed over"))
      .join()
      .match(/refs\/|job_\S+/g),
  ).toHaveLength(4);
  expect(await other.repository.unpackCommit(job, Buffer.from("agent-work"))).toBeUndefined();
});

test("what GitHub refuses is told: a rule for refs, and a secret, which it finds because the change is text", async () => {
  const { runner, refs, rule } = await setUp((tree) => writeFileSync(join(tree, "key.md"), "ghp_secret\n"));
  const packed = await runner.repository.packCommit(job);
  rule(
    'while read -r _ _ ref; do case "$ref" in refs/heads/*) ;; *) echo "GH013: refs are restricted" >&2; exit 1;; esac; done',
  );
  await expect(runner.kept.save(turn, packed)).rejects.toThrow("refs are restricted");
  // As push protection: it reads what is pushed.
  rule(
    'while read -r _ new _; do git show "$new" | grep -q ghp_secret && { echo "GH013: push protection: secret" >&2; exit 1; }; done; exit 0',
  );
  const error = await runner.kept.save(turn, packed).catch((reason: unknown) => reason);
  expect(isForSecret(error)).toBe(true);
  expect(refs()).toEqual([]);
});

test("what is listed and cannot be read now is not passed over: it is paid for", async () => {
  const { git, log, open, runner, commit, refused } = await setUp();
  const packed = await runner.repository.packCommit(job);
  await runner.kept.save(turn, packed);
  const { repository, kept } = await open();
  await expect(refused(() => kept.load(job, turn))).rejects.toThrow(/^git fetch exited/);
  await expect(refused(() => kept.commitsOf(job))).rejects.toThrow(/^git fetch exited/);
  expect(await kept.load(job, turn)).toBeDefined();
  // The start of the commit, which GitHub keeps although no branch has it.
  const onTop = git("commit-tree", "-p", "main", "-m", "Start", "main^{tree}").trim();
  const based = Buffer.from(String(packed).replace(/^parent .*$/m, `parent ${onTop}`));
  await expect(refused(() => repository.unpackCommit(job, based))).rejects.toThrow(/^git fetch exited/);
  await expect(refused(() => repository.commitsOfBranch(onTop, 1))).rejects.toThrow(/^git fetch exited/);
  expect(await repository.commitsOfBranch(onTop, 1)).toMatchObject([{ commit: onTop }]);
  expect(await repository.commitsOfBranch("1".repeat(40), 1)).toEqual([]);
  expect(await repository.unpackCommit(job, packed)).toMatchObject({ commit });
  expect(log).toEqual([]);
});
