import { expect, test } from "vitest";
import { GitError } from "../../../src/git/git.ts";
import { packMessage } from "../../../src/git/job-commits.ts";
import type { RunningTurn } from "../../../src/model.ts";
import { commitMessage } from "../../../src/pulls/commit-message.ts";
import { dayMs } from "../../../src/time.ts";
import { KeptOnRefs, type KeptOnRefsOptions } from "../../../step/memory/kept-on-refs.ts";
import { identityOf } from "../../support/turn-identity.ts";

/* What is kept in refs of a repository, by what became of its turn. */

const turnOf = (number: number, job = 1): RunningTurn => ({
  id: number,
  identity: identityOf(number),
  job: `job_00000000-0000-4000-8000-00000000000${job}`,
  prompt: `Prompt ${number}`,
  sections: "",
  covers: null,
  attempts: 0,
  step: `s${number}`,
  request: "r1",
  lease: "l",
  isResumed: false,
});
const [own, next, ofOtherJob] = [turnOf(1), turnOf(2), turnOf(3, 2)];
const ofSameJob = (number: number): RunningTurn => ({ ...turnOf(number), job: own.job });
const stages = ["begun", "made", "unfinished", "nothing", "pushed"] as const;
type Stage = (typeof stages)[number];

/** Refs in memory, with machines that keep what turns leave. */
function setUp() {
  const texts = new Map<string, Uint8Array>();
  const log: string[] = [];
  let now = Date.UTC(2026, 0, 1, 12);
  const refs = {
    get names() {
      return [...texts.keys()];
    },
    list: async () => {},
    write: async (name: string, _job: string, text: Uint8Array, replaces: readonly string[] = []) => {
      for (const replaced of replaces) texts.delete(replaced);
      texts.set(name, text);
      return undefined;
    },
    read: async (name: string) => texts.get(name),
    remove: async (names: readonly string[]) => {
      for (const name of names) texts.delete(name);
    },
  };
  /** Another process with the same refs. While it waits, `meanwhile` is done. */
  const open = (
    meanwhile: () => Promise<void> = async () => {},
    seen: KeptOnRefsOptions["refs"] = refs,
    ofRun: Pick<KeptOnRefsOptions, "run" | "hasRunEnded" | "hurry"> = {},
  ) =>
    new KeptOnRefs({
      refs: seen,
      machine: { wallTime: () => now, sleep: meanwhile },
      log: (line) => void log.push(line),
      ...ofRun,
    });
  const kept = open();
  const packed = (turn: RunningTurn, stage: Stage) => {
    const told = stage === "made" ? {} : { left: stage, ...(stage === "begun" && { until: now + 60_000 }) };
    return packMessage(commitMessage(turn, [], { session: "nightly" }, told), now);
  };
  const keep = (turn: RunningTurn, stage: Stage) => kept.save(turn, packed(turn, stage));
  const pass = (ms: number): void => {
    now += ms;
  };
  const left = (): string[] => refs.names.map((name) => name.replace(/.*\//, ""));
  return { texts, refs, open, kept, log, packed, keep, pass, left };
}

test("of two jobs with the same request, the one comes first whose agent has ended", async () => {
  const { kept, keep } = setUp();
  await keep({ ...own, step: "s" }, "begun");
  await keep({ ...ofOtherJob, step: "s" }, "made");
  expect(kept.jobsOfStep("s")).toEqual([ofOtherJob.job, own.job]);
});

test.each<[Stage, { ref: string; loads: boolean; forgotten: boolean; days: number }]>([
  ["begun", { ref: "begun", loads: false, forgotten: true, days: 31 }],
  ["made", { ref: "made", loads: true, forgotten: true, days: 60 }],
  ["unfinished", { ref: "unfinished", loads: true, forgotten: true, days: 60 }],
  ["pushed", { ref: "pushed", loads: false, forgotten: true, days: 31 }],
  // It is the only trace that the agent has run.
  ["nothing", { ref: "ended", loads: false, forgotten: false, days: 31 }],
])("of a turn that is %s: %j", async (stage, { ref, loads, forgotten, days }) => {
  const { kept, keep, pass, left } = setUp();
  await keep(own, stage);
  expect(left()).toEqual([ref]);
  expect((await kept.load(own.job, own)) !== undefined).toBe(loads);
  expect([kept.jobsOfStep("s1"), kept.jobsOfStep("nightly")]).toEqual([[own.job], []]);
  expect(await kept.newestJobOf("nightly", new Set())).toMatchObject({ job: own.job });
  expect(await kept.newestJobOf("s1", new Set())).toBeUndefined();
  pass((days - 0.5) * dayMs);
  await kept.tidy();
  expect(left()).toEqual([ref]);
  await kept.forget(own);
  expect(left()).toEqual(forgotten ? [] : [ref]);
  pass(dayMs);
  await keep(next, "made");
  await kept.tidy();
  expect(left()).toEqual(["made"]);
});

test.each(stages.flatMap((earlier) => stages.map((later) => [earlier, later] as const)))(
  "what is kept of a turn that was %s gives way to its being %s, unless it is still worked on, and that of others stays",
  async (earlier, later) => {
    const { keep, refs, left } = setUp();
    await keep(own, earlier);
    await keep({ ...next, step: "" }, "made");
    const others = refs.names.slice(1);
    await keep(own, later);
    const isWorkedOn = earlier === "begun" && later === "made";
    const rest = ["made", later === "nothing" ? "ended" : later];
    expect(left()).toEqual(isWorkedOn ? ["begun", ...rest] : rest);
    expect(refs.names).toContain(others[0]);
  },
);

const noSteps: ReadonlySet<string> = new Set();

test("a session that a run claims is busy for others, until the run's agent begins or it ends", async () => {
  const { kept, open, refs, left } = setUp();
  expect(await kept.busyJobOf("nightly", noSteps, own.step)).toBeUndefined();
  expect(left()).toEqual(["begun"]);
  expect(await open().busyJobOf("nightly", noSteps)).toMatchObject({ until: expect.any(Number) });
  expect(await open().busyJobOf("nightly", noSteps, next.step)).toMatchObject({ until: expect.any(Number) });
  expect(await open().busyJobOf("weekly", noSteps, next.step)).toBeUndefined();
  // It has no job, and is asked for again if the answer is lost.
  expect([await kept.newestJobOf("nightly", noSteps), kept.jobsOfStep(own.step)]).toEqual([undefined, []]);
  expect(await kept.busyJobOf("nightly", noSteps, own.step)).toBeUndefined();
  const [ofOther] = refs.names;
  const message = commitMessage(own, [], { session: "nightly" }, { left: "begun", until: Date.UTC(2026, 0, 1, 13) });
  await kept.begin(own, message);
  expect(refs.names).toEqual([ofOther, expect.stringContaining(own.job)]);
  expect(await open().busyJobOf("nightly", noSteps)).toMatchObject({ job: own.job });
  // Its agent ends with this process.
  await kept.release();
  expect([refs.names, await open().busyJobOf("nightly", noSteps)]).toEqual([[ofOther], undefined]);
});

test("a session is not busy for ever although GitHub is away when a turn, or a claim, ends", async () => {
  const { kept, refs, left, keep, open } = setUp();
  const away = new GitError(["push"], "exited with 128", "The requested URL returned error: 502", 128);
  const { write, remove } = refs;
  const failing = <T extends unknown[], R>(times: number, use: (...given: T) => Promise<R>) => {
    let count = 0;
    return (...given: T): Promise<R> => (count++ < times ? Promise.reject(away) : use(...given));
  };
  await keep(own, "begun");
  refs.write = failing(2, write);
  await kept.forget(own, commitMessage(own, [], { session: "nightly" }, { left: "pushed" }));
  expect([left(), await open().busyJobOf("nightly", noSteps)]).toEqual([["pushed"], undefined]);
  refs.write = write;
  expect(await kept.busyJobOf("nightly", noSteps, next.step)).toBeUndefined();
  refs.remove = failing(2, remove);
  await kept.release();
  expect(left()).toEqual(["pushed"]);
});

test.each<[string, number, (hurry: AbortController) => void]>([
  ["already", 1, (hurry) => hurry.abort()],
  ["while it waits", 2, () => {}],
])("nothing waits for GitHub if there is no time, %s", async (_when, tries, begin) => {
  const hurry = new AbortController();
  const { refs, open } = setUp();
  const claimed = open(async () => hurry.abort(), refs, { hurry: hurry.signal });
  expect(await claimed.busyJobOf("nightly", noSteps, own.step)).toBeUndefined();
  begin(hurry);
  let tried = 0;
  refs.remove = async () => {
    tried++;
    throw new GitError(["push"], "exited with 128", "The requested URL returned error: 502", 128);
  };
  await claimed.release();
  expect(tried).toBe(tries);
});

test("a session is not busy with the agent, or the claim, of a run that GitHub says has ended", async () => {
  const { open, refs, left } = setUp();
  const ended: string[] = [];
  const hasRunEnded = async ({ run, attempt }: { run: string; attempt: string }) => ended.includes(`${run}/${attempt}`);
  const lost = open(undefined, refs, { run: { run: "7", attempt: "2" } });
  const other = open(undefined, refs, { run: { run: "8", attempt: "1" }, hasRunEnded });
  expect(await lost.busyJobOf("nightly", noSteps, own.step)).toBeUndefined();
  expect(await other.busyJobOf("nightly", noSteps)).toBeDefined();
  const until = Date.UTC(2026, 0, 1, 13);
  await lost.begin(own, commitMessage(own, [], { session: "nightly" }, { left: "begun", until }));
  expect([left(), await other.busyJobOf("nightly", noSteps)]).toEqual([["begun"], { job: own.job, until }]);
  expect(await other.besides({ ...next, job: own.job })).toHaveLength(1);
  ended.push("7/2");
  expect(await other.busyJobOf("nightly", noSteps)).toBeUndefined();
  expect(await other.besides({ ...next, job: own.job })).toEqual([]);
  // Of a run that does not say which it is, and to one that may not ask, it is.
  expect(await open().busyJobOf("nightly", noSteps)).toBeDefined();
});

test("of two runs that claim a session at once, exactly one gets it, and one that claims it later never does", async () => {
  // The order of their names is drawn.
  for (let round = 0; round < 8; round++) {
    const { open, left } = setUp();
    const until = () => new Promise<void>((resolve) => void setImmediate(resolve));
    const [one, two, late] = [open(until), open(until), open(until)];
    const both = [one.busyJobOf("nightly", noSteps, "s1"), two.busyJobOf("nightly", noSteps, "s2")];
    expect((await Promise.all(both)).filter((busy) => busy === undefined)).toHaveLength(1);
    expect(left()).toEqual(["begun"]);
    expect(await late.busyJobOf("nightly", noSteps, "s3")).toBeDefined();
    expect(left()).toEqual(["begun"]);
    for (const run of [one, two]) await run.release();
    expect(left()).toEqual([]);
    expect(await late.busyJobOf("nightly", noSteps, "s3")).toBeUndefined();
  }
});

test("a run whose agent begins between the listing and the reading of its claim is seen", async () => {
  const { kept, open, refs } = setUp();
  await kept.busyJobOf("nightly", noSteps, own.step);
  const names = refs.names;
  const until = Date.UTC(2026, 0, 1, 13);
  await kept.begin(own, commitMessage(own, [], { session: "nightly" }, { left: "begun", until }));
  let lists = 0;
  const list = async (): Promise<void> => void lists++;
  const stale = Object.defineProperty({ ...refs, list }, "names", { get: () => (lists > 1 ? refs.names : names) });
  expect(await open(undefined, stale).busyJobOf("nightly", noSteps)).toEqual({ job: own.job, until });
});

test("a session that cannot be claimed is free, and the log says that others do not see it", async () => {
  const { kept, refs, log } = setUp();
  refs.write = async () => {
    throw new Error("refs are restricted");
  };
  expect(await kept.busyJobOf("nightly", noSteps, own.step)).toBeUndefined();
  expect(log).toEqual(["Other runs do not see that this one is about to begin: refs are restricted"]);
  const outage = new GitError(
    ["push"],
    "failed",
    "error: RPC failed; HTTP 500 curl 22 The requested URL returned error: 500",
    1,
  );
  refs.write = async () => {
    throw outage;
  };
  await expect(kept.busyJobOf("nightly", noSteps, own.step)).rejects.toBe(outage);
});

test("a claim whose answer was lost is given up once another run has the session", async () => {
  const { kept, open, refs, left } = setUp();
  const { list } = refs;
  let lists = 0;
  refs.list = async () => {
    if (++lists === 2) throw new Error("GitHub is away");
  };
  await expect(kept.busyJobOf("nightly", noSteps, own.step)).rejects.toThrow("away");
  refs.list = list;
  expect(left()).toEqual(["begun"]);
  const message = commitMessage(next, [], { session: "nightly" }, { left: "begun", until: Date.UTC(2026, 0, 1, 13) });
  await open().begin(next, message);
  expect(await kept.busyJobOf("nightly", noSteps, own.step)).toMatchObject({ job: next.job });
  expect(refs.names.filter((name) => name.startsWith("job_00000000-0000-0000-0000-000000000000"))).toEqual([]);
});

test("the record of a step that asks is read, however many others its job has", async () => {
  const { kept, keep } = setUp();
  for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9]) await keep({ ...turnOf(number), job: own.job }, "nothing");
  for (const number of [1, 9]) {
    const messages = (await kept.commitsOf(own.job, [], [`s${number}`])).map(({ message }) => message);
    expect(messages).toContainEqual(expect.stringMatching(new RegExp(`^Prompt ${number}\n`)));
    expect(messages).toHaveLength(6);
  }
});

test("the newest records of turns that are over are read, whether they changed anything or not", async () => {
  const { kept, keep, pass } = setUp();
  const stagesOfNights = ["nothing", "pushed", "pushed", "pushed", "pushed", "pushed", "nothing"] as const;
  for (const [night, stage] of stagesOfNights.entries()) {
    await keep(ofSameJob(night + 1), stage);
    pass(dayMs);
  }
  const prompts = (await kept.commitsOf(own.job)).map(({ message }) => message.split("\n")[0]);
  expect(prompts).toEqual([7, 6, 5, 4, 3].map((night) => `Prompt ${night}`));
});

test.each([
  [5, true],
  [49, true],
  // Each costs a request.
  [50, false],
])(
  "%i damaged refs that somebody has planted are named, and the kept commit below them is found: %s",
  async (count, isFound) => {
    const { kept, keep, texts, refs, log } = setUp();
    await keep(own, "made");
    const { read } = refs;
    const asked = new Set<string>();
    refs.read = (name) => read(name).finally(() => asked.add(name));
    const planted = Array.from({ length: count }, (_, index) => {
      const hash = String(index).padStart(12, "0");
      return `${own.job}/-.-.${hash}.2026-01-02-00000000/made`;
    });
    for (const name of planted) texts.set(name, Buffer.from("junk"));
    const messages = (await kept.commitsOf(own.job)).map(({ message }) => message);
    expect(messages).toEqual(isFound ? [expect.stringMatching(/^Prompt 1\n/)] : []);
    for (const name of planted) expect(log.join()).toContain(name);
    expect(asked.size).toBeLessThanOrEqual(50);
  },
);

test.each(["2026-99-99", "9999-12-31", "2026-01-04"])("a name with the day %s hides nothing", async (day) => {
  const { kept, keep, texts, refs } = setUp();
  await keep(own, "made");
  const [name = ""] = refs.names;
  texts.set(name.replace(/\d{4}-\d\d-\d\d/, day).replace(own.job, ofOtherJob.job), Buffer.of());
  expect(await kept.newestJobOf("nightly", noSteps)).toMatchObject({ job: own.job });
});

test.each([
  ["is gone", undefined],
  ["is damaged", Buffer.from("nothing that Git would read")],
  ["is that of another turn", "of the next turn"],
  ["is that of another job", "of another job"],
] as const)("work whose ref %s is passed over, and the log says so", async (_, content) => {
  const { texts, refs, kept, log, keep, packed } = setUp();
  await keep(own, "made");
  const [name = ""] = refs.names;
  const ofOthers = {
    "of the next turn": packed({ ...next, job: own.job }, "made"),
    "of another job": packed(ofOtherJob, "made"),
  };
  refs.read = async () => (typeof content === "string" ? ofOthers[content] : content);
  expect(texts.has(name)).toBe(true);
  expect(await kept.load(own.job, own)).toBeUndefined();
  // Of the same job, it is known with its own name.
  expect(await kept.commitsOf(own.job)).toHaveLength(content === "of the next turn" ? 1 : 0);
  expect(log.join("\n")).toMatch(/passed over/);
});

test("the newest job of a session is the one that was worked on last, of those that are not known otherwise", async () => {
  const { kept, keep, pass } = setUp();
  const newest = (...known: string[]) => kept.newestJobOf("nightly", new Set(known));
  await keep(own, "pushed");
  pass(60_000);
  await keep(ofOtherJob, "pushed");
  expect(await newest()).toMatchObject({ job: ofOtherJob.job });
  expect(await newest(ofOtherJob.job)).toMatchObject({ job: own.job });
  expect(await newest(own.job, ofOtherJob.job)).toBeUndefined();
  pass(dayMs);
  await keep(own, "begun");
  expect(await newest()).toMatchObject({ job: own.job });
});

test.each(stages)("of a turn that is %s, its own record takes the place once it is published", async (stage) => {
  const { kept, keep, left } = setUp();
  const record = commitMessage(own, [], { session: "nightly" }, { left: "pushed" }, "Pushed");
  await kept.forget(own, record);
  // Refs are refused, or nothing was said before.
  expect(left()).toEqual([]);
  await keep(own, stage);
  await kept.forget(own, record);
  expect(left()).toEqual([stage === "nothing" ? "ended" : "pushed"]);
  expect(await kept.commitsOf(own.job)).toHaveLength(1);
  expect(await kept.commitsOf(own.job, [own.identity])).toEqual([]);
});

test("a ref with a name that no service gives is none", async () => {
  const { texts, kept, refs, keep } = setUp();
  await keep(own, "made");
  const [name = ""] = refs.names;
  texts.clear();
  for (const forged of [
    `${name}/more`,
    name.replace("made", "published"),
    name.replace(/-[0-9a-f]{8}\//, "-x/"),
    name.replace("job_", ""),
  ])
    texts.set(forged, Buffer.of());
  expect([kept.jobsOfStep("s1"), await kept.commitsOf(own.job)]).toEqual([[], []]);
});

test("a job's kept commits are told newest first", async () => {
  const { kept, keep, pass } = setUp();
  await keep(own, "made");
  pass(60_000);
  await keep({ ...next, job: own.job }, "unfinished");
  const commits = await kept.commitsOf(own.job);
  expect(commits.map(({ message }) => message.split("\n")[0])).toEqual(["Prompt 2", "Prompt 1"]);
});

test("refs that cannot be removed do not fail a turn", async () => {
  const { refs, kept, log, keep } = setUp();
  await keep(own, "made");
  refs.remove = () => Promise.reject(new Error("GitHub is away"));
  await kept.forget(own);
  expect(log).toEqual([expect.stringMatching(/^Cannot remove refs .*: GitHub is away$/)]);
});

test("a newer attempt that has begun takes the older one's place, which takes none when it saves its work", async () => {
  const { keep, refs, left } = setUp();
  await keep(own, "begun");
  await keep({ ...ofSameJob(2), step: own.step }, "begun");
  expect(left()).toEqual(["begun"]);
  const [newer] = refs.names;
  await keep(own, "made");
  expect([left(), refs.names[0]]).toEqual([["begun", "made"], newer]);
});

test.each<[what: string, isBusy: boolean, passMs: number, session: string, steps: string[], planted?: string]>([
  ["works", true, 59_000, "nightly", ["s2"]],
  ["works, in another session", false, 0, "weekly", []],
  ["works, of the same step", false, 0, "nightly", ["s1"]],
  ["was lost, and whose time is over", false, 60_000, "nightly", []],
  ["says that it works for more than five days", false, -5 * dayMs, "nightly", []],
  ["names another job", false, 0, "nightly", [], ofOtherJob.job],
])("a run waits for another one only while that works: one that %s", async (_, isBusy, passMs, session, steps, job) => {
  const { keep, pass, kept, open, refs, packed } = setUp();
  await keep(own, "begun");
  if (job !== undefined) refs.read = async () => packed({ ...own, job }, "begun");
  pass(passMs);
  expect((await open().busyJobOf(session, new Set(steps)))?.job).toBe(isBusy ? own.job : undefined);
  // It does not wait for itself.
  expect(await kept.busyJobOf(session, new Set(steps))).toBeUndefined();
});

const record = commitMessage(own, [], { session: "nightly" }, { left: "pushed" }, "Pushed");

test.each<[end: string, by: (kept: KeptOnRefs, turn: RunningTurn) => Promise<void>, left: string[]]>([
  ["is published", (kept, turn) => kept.forget(turn, record), ["pushed"]],
  ["has a secret", (kept, turn) => kept.forget(turn), []],
  ["fails, or is cancelled", (kept) => kept.release(), ["made"]],
])("a turn whose agent has ended keeps its session busy until it %s", async (_, end, rest) => {
  const { kept, open, keep, pass, left } = setUp();
  await keep(own, "begun");
  // Again after the agent's second go.
  for (const stage of ["made", "made"] as const) {
    await keep(own, stage);
    expect(left()).toEqual(["begun", "made"]);
    pass(20_000);
    expect(await open().busyJobOf("nightly", noSteps)).toMatchObject({ job: own.job });
    expect(await open().besides(ofSameJob(2))).toMatchObject([{ turn: own.id }]);
  }
  await end(kept, own);
  expect(left()).toEqual(rest);
  expect(await open().busyJobOf("nightly", noSteps)).toBeUndefined();
});

test("a turn whose runner was lost after its agent's end holds up others until its time, and its re-run never", async () => {
  const { open, keep, packed, pass, left } = setUp();
  await keep(own, "begun");
  await keep(own, "made");
  const again = open();
  expect(await again.busyJobOf("nightly", new Set([own.step]))).toBeUndefined();
  expect(await again.load(own.job, own)).toEqual(packed(own, "made"));
  expect(await open().busyJobOf("nightly", noSteps)).toMatchObject({ job: own.job });
  pass(60_000);
  expect(await open().busyJobOf("nightly", noSteps)).toBeUndefined();
  // Its re-run fails.
  await again.save(own, packed(own, "made"));
  expect(left()).toEqual(["made"]);
});

test("work is read before what lost runners have left, also if its ref is new since the listing", async () => {
  const { texts, keep, kept, refs, packed } = setUp();
  for (const number of [2, 3, 4, 5, 6, 7]) await keep(ofSameJob(number), "begun");
  await keep(own, "begun");
  const [before = ""] = refs.names.slice(-1);
  const { read } = refs;
  refs.list = async () => {
    await refs.write(before.replace("begun", "made"), own.job, packed(own, "made"), [before]);
  };
  refs.read = async (name) => (name === before ? undefined : read(name));
  const prompts = async () => (await kept.commitsOf(own.job)).map(({ message }) => message.split("\n")[0]);
  for (const number of [2, 3, 4]) await kept.end(ofSameJob(number), undefined);
  expect(await prompts()).toContain("Prompt 1");
  for (const number of [8, 9]) await keep({ ...ofSameJob(number), step: "" }, "begun");
  // Listed last.
  const made = before.replace("begun", "made");
  const text = texts.get(made) ?? Buffer.of();
  texts.delete(made);
  texts.set(made, text);
  expect(await prompts()).toContain("Prompt 1");
});

test("the command for what is kept names the turn's own ref, or the job's newest", async () => {
  const { keep, kept, refs } = setUp();
  await keep(own, "made");
  await keep(ofSameJob(2), "made");
  const [first = "", second = ""] = refs.names;
  expect(kept.commandFor(own, "push")).toContain(first);
  expect(kept.commandFor(ofSameJob(3), "push")).toContain(second);
  expect([kept.commandFor(own, "unfinished"), kept.commandFor(ofOtherJob, "push")]).toEqual([undefined, undefined]);
});
