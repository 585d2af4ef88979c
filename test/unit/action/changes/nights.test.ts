import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Transport } from "../../../../src/runner-kit/transport.ts";
import { runWithChanges } from "../../../support/changes-run.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import { FakeRepository } from "../../../support/fake-repository.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { type MainOptions, record, respondWith } from "../../../support/run-main.ts";
import { temporaryFolder } from "../../../support/step.ts";

type Status = "active" | "completed" | "failed";

/** A service whose jobs each have a pull request, and the statuses that a test gives to their turns. */
class Agents {
  readonly jobs: { id: string; status: Status; prompts: string[] }[] = [];
  /** How turns end that are sent from now on. */
  next: Status = "completed";
  rejectsMessages = false;

  readonly respond = ({ method, path, body }: SeenRequest): Exchange => {
    const id = path.split("/")[5];
    let job = this.jobs.find((one) => one.id === id);
    if (method === "GET")
      return job ? respondWith(200, this.#record(job)) : respondWith(404, { error: "Job not found" });
    if (job && this.rejectsMessages) return respondWith(400, { error: "The job takes no messages" });
    if (!job) {
      job = { id: `job_${this.jobs.length + 1}`, status: this.next, prompts: [] };
      this.jobs.push(job);
    }
    job.status = this.next;
    job.prompts.push((body as { prompt: string }).prompt);
    return respondWith(201, record({ id: job.id }));
  };

  #record({ id, status }: Agents["jobs"][number]): Record<string, unknown> {
    const number = Number(id.slice("job_".length));
    return record({ id, status, prLink: status === "active" ? null : `https://github.com/acme/docs/pull/${number}` });
  }
}

/** `sha`: of the run's commit. Default: that of the default branch. */
type NightOptions = Partial<MainOptions> & { hasCache?: boolean; sha?: string };

/** A repository with a session that runs night after night; the pull requests 1 to 9 are open. */
function nights() {
  const repository = new FakeRepository();
  const cache = new FakeCache();
  const agents = new Agents();
  for (let number = 1; number <= 9; number++) openPullRequest(repository, number);
  const heads: string[] = [];
  /** Runs an attempt of the `n`-th night, for the commit of its first attempt. */
  const run = (n: number, attempt = 1, { hasCache = true, sha, ...options }: NightOptions = {}) => {
    heads[n] ??= sha ?? repository.head();
    const event = { name: "schedule", sha: heads[n] };
    return runWithChanges(repository, event, {
      ...(hasCache && { cache }),
      respond: agents.respond,
      ...options,
      runAttempt: attempt,
      inputs: { session: "nightly", ...options.inputs },
      environment: { GITHUB_RUN_ID: String(100 + n), GITHUB_JOB: "docs", GITHUB_ACTION: "a", ...options.environment },
    });
  };
  /** The night after a commit to a file of its own. */
  const night = (n: number, options?: NightOptions) => {
    repository.commit("main", { files: [`file${n}`] });
    return run(n, 1, options);
  };
  return { repository, agents, cache, run, night };
}

function openPullRequest(repository: FakeRepository, number: number): void {
  repository.pulls.set(number, {
    merged: false,
    merge_commit_sha: null,
    base: { sha: "" },
    head: { sha: "" },
    commits: [],
  });
}

const filesIn = (prompt = ""): string[] =>
  [...prompt.matchAll(/^(?:added|modified) (file\d+) /gm)].map(([, file]) => file ?? "");

test("the changes of a night that failed are sent by the next one, to the same job", async () => {
  const { agents, night } = nights();
  await night(1);
  agents.next = "failed";
  expect((await night(2)).outputs).toMatchObject({ outcome: "failed", "job-origin": "continued" });
  agents.next = "completed";
  const { outputs, prompts } = await night(3);
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "job-origin": "continued" });
  expect(filesIn(prompts[0])).toEqual(["file2", "file3"]);
  expect(filesIn((await night(4)).prompts[0])).toEqual(["file4"]);
  expect(agents.jobs).toHaveLength(1);
});

test("so are those of a first night that failed, which had nothing to start from but the day before", async () => {
  const { repository, agents, night } = nights();
  repository.commit("main", { files: ["file0"] });
  agents.next = "failed";
  expect(filesIn((await night(1)).prompts[0])).toEqual(["file0", "file1"]);
  agents.next = "completed";
  for (const commit of repository.commits.values()) commit.at -= 30 * 3_600_000;
  expect(filesIn((await night(2)).prompts[0])).toEqual(["file0", "file1", "file2"]);
});

test("so are those of the first night of a repository, with its first commit, and in a re-run", async () => {
  const { repository, agents, run, night } = nights();
  for (const commit of repository.commits.values()) commit.at = Date.UTC(2026, 0, 1) - 1000;
  agents.next = "failed";
  const { prompts } = await night(1);
  expect(prompts[0]).toContain("2 commits, 2 files\n");
  expect((await run(1, 2)).prompts).toEqual(prompts);
  for (const commit of repository.commits.values()) commit.at -= 30 * 3_600_000;
  expect((await run(1, 3)).prompts).toEqual(prompts);
  agents.next = "completed";
  expect((await night(2)).prompts[0]).toContain("3 commits, 3 files\n");
  expect(filesIn((await night(3)).prompts[0])).toEqual(["file3"]);
});

test("a second failure in a row starts a new job, and a notice names the pull request that is left", async () => {
  const { agents, night } = nights();
  await night(1);
  agents.next = "failed";
  await night(2);
  expect((await night(3)).outputs).toMatchObject({ "job-id": "job_1" });
  agents.next = "completed";
  const { outputs, prompts, toolkit } = await night(4);
  expect(outputs).toMatchObject({ "job-id": "job_2", "job-origin": "created" });
  expect(filesIn(prompts[0])).toEqual(["file2", "file3", "file4"]);
  expect(toolkit.annotations).toMatchObject([{ level: "notice", title: "Session starts a new job" }]);
  expect(toolkit.annotations[0]?.text).toMatch(
    /last 2 turns of job job_1 failed.*https:\/\/github\.com\/acme\/docs\/pull\/1:/,
  );
});

test("a turn that was not seen to start covers its changes only if the next night finds that it completed", async () => {
  const { agents, night } = nights();
  await night(1);
  const respond = (request: SeenRequest): Exchange => {
    const answer = agents.respond(request);
    return request.method === "POST" ? respondWith(200, record({ id: "job_1", status: "completed" })) : answer;
  };
  expect((await night(2, { respond })).outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
  for (const job of agents.jobs) job.status = "failed";
  expect(filesIn((await night(3)).prompts[0])).toEqual(["file2", "file3"]);
});

const agent = { connect: (transport: Transport) => transport, prepare: async () => {}, check: async () => {} };
/** A step that runs an agent itself. */
const own = {
  agent: { ...agent, end: async () => {} },
  inputs: { agent: "editor", "project-id": "", "api-key": "" },
  environment: { RUNNER_OS: "Linux" },
};
const known = (): KeyedService => Object.assign(new KeyedService(), { features: ["session", "sections"] });

test("a night of an own agent whose message is lost with its runner covers nothing", async () => {
  const { cache, night } = nights();
  const service = new KeyedService();
  await night(1, { ...own, respond: service.respond });
  let entries = 0;
  const respond = (request: SeenRequest): Exchange => {
    if (request.path.endsWith("/job_1") && service.turns.length === 2) entries ||= cache.entries.length;
    return service.respond(request);
  };
  await night(2, { ...own, respond });
  // Only what was saved before the agent began is left.
  cache.entries.length = entries;
  service.turns.pop();
  expect(filesIn((await night(3, { ...own, respond: service.respond })).prompts[0])).toEqual(["file2", "file3"]);
});

describe("what the turns of a session's job were told of is covered, as their service says", () => {
  test("if the runner was lost before it saved that", async () => {
    const { cache, run, night } = nights();
    const service = known();
    await night(1, { ...own, respond: service.respond });
    const entries = [...cache.entries];
    await night(2, { ...own, respond: service.respond });
    cache.entries.splice(0, cache.entries.length, ...entries);
    const quiet = await run(3, 1, { ...own, respond: service.respond });
    expect(quiet.outputs).toMatchObject({ outcome: "skipped", "skip-reason": "nothing-new" });
    expect(filesIn((await night(4, { ...own, respond: service.respond })).sections)).toEqual(["file4"]);
    expect(service.turns).toHaveLength(3);
  });

  test("without a cache", async () => {
    const { run, night } = nights();
    const service = known();
    const options = { ...own, hasCache: false, respond: service.respond };
    for (const n of [1, 2, 3]) expect(filesIn((await night(n, options)).sections)).toEqual([`file${n}`]);
    expect((await run(4, 1, options)).outputs).toMatchObject({ outcome: "skipped", "skip-reason": "nothing-new" });
  });

  test("unless the cache knows of a later commit", async () => {
    const { night } = nights();
    const service = known();
    await night(1, { ...own, respond: service.respond });
    await night(2, { ...own, respond: service.respond });
    for (const turn of service.turns.slice(1)) turn.covers = service.turns[0]?.covers;
    expect(filesIn((await night(3, { ...own, respond: service.respond })).sections)).toEqual(["file3"]);
  });
});

describe("a session's range starts at the commit up to which it was told of all changes", () => {
  const server = { inputs: { "base-url": "https://agents.acme.example" } };
  const holders = { "an own agent": own, "a server": server } as const;
  const readOnly = {
    environment: { RUNNER_OS: "Linux", ACTIONS_CACHE_MODE: "read", GITHUB_EVENT_NAME: "workflow_run" },
  };
  const age = ({ commits }: FakeRepository, hours = 48): void => {
    for (const commit of commits.values()) commit.at -= hours * 3_600_000;
  };

  test.each(Object.entries(holders))(
    "a run on another branch says nothing about this one, with %s",
    async (_name, holder) => {
      const { repository, cache, run, night } = nights();
      const service = known();
      const options = { ...holder, respond: service.respond };
      await night(1, options);
      age(repository);
      repository.ref("feature");
      const sha = repository.commit("feature", { files: ["file20"] });
      await night(2, { ...options, environment: readOnly.environment });
      const entries = [...cache.entries];
      const environment = { RUNNER_OS: "Linux", GITHUB_EVENT_NAME: "workflow_dispatch", GITHUB_SHA: sha };
      expect(filesIn((await run(3, 1, { ...options, environment })).sections)).toEqual(["file20"]);
      // A cache belongs to a branch.
      cache.entries.splice(0, cache.entries.length, ...entries);
      age(repository);
      expect(filesIn((await night(4, options)).sections)).toEqual(["file4"]);
      expect((await run(5, 1, options)).outputs["skip-reason"]).toBe("nothing-new");
    },
  );

  test("what a turn is told of a pull request is marked as not all", async () => {
    const { repository, run, night } = nights();
    const service = known();
    await night(1, { ...own, respond: service.respond });
    repository.ref("feature");
    const head = repository.commit("feature", { files: ["file20"] });
    const eventPath = join(temporaryFolder(), "event.json");
    writeFileSync(
      eventPath,
      JSON.stringify({ pull_request: { base: { sha: repository.head() }, head: { sha: head } } }),
    );
    const environment = { RUNNER_OS: "Linux", GITHUB_EVENT_NAME: "pull_request", GITHUB_EVENT_PATH: eventPath };
    await run(2, 1, { ...own, respond: service.respond, environment });
    expect(service.turns.map(({ covers }) => covers)).toEqual([repository.head(), `+${head}`]);
  });

  test.each([
    ["without changes", { changes: "none", prompt: "Fix the typo" }],
    ["with a part of them", { "changes-since": "24h" }],
  ])("a run %s does not move it", async (_name, inputs) => {
    for (const holder of [{ inputs: {} }, ...Object.values(holders)]) {
      const { repository, run, night } = nights();
      const service = known();
      const options = { ...holder, respond: service.respond };
      await night(1, options);
      repository.commit("main", { files: ["file2"] });
      age(repository);
      expect((await night(3, { ...options, inputs: { ...options.inputs, ...inputs } })).outputs.outcome).toBe(
        "pr-created",
      );
      const { sections, prompts } = await night(4, options);
      expect(filesIn(sections || prompts[0])).toEqual(["file2", "file3", "file4"]);
      expect((await run(5, 1, options)).outputs["skip-reason"]).toBe("nothing-new");
    }
  });

  test("one that is told of more does", async () => {
    const { run, night } = nights();
    const service = known();
    const options = { ...own, respond: service.respond };
    await night(1, options);
    expect(
      filesIn((await night(2, { ...options, inputs: { ...own.inputs, "changes-since": "24h" } })).sections),
    ).toEqual(["file1", "file2"]);
    expect((await run(3, 1, options)).outputs["skip-reason"]).toBe("nothing-new");
  });

  test.each(Object.entries(holders))(
    "runs that cannot save it go on from each other, beside an older entry of another job, with %s",
    async (_name, holder) => {
      const { run, night } = nights();
      const service = known();
      const options = { ...holder, respond: service.respond };
      await night(1, options);
      for (const isMerged of [false, true]) {
        if (isMerged) service.archived.add("job_1");
        const first = isMerged ? 5 : 2;
        for (const n of [first, first + 1])
          expect(filesIn((await night(n, { ...options, ...readOnly })).sections)).toEqual([`file${n}`]);
        expect((await run(first + 2, 1, { ...options, ...readOnly })).outputs["skip-reason"]).toBe("nothing-new");
      }
      expect(service.turns.map(({ job }) => job)).toEqual(["job_1", "job_1", "job_1", "job_2", "job_2"]);
    },
  );

  test.each(Object.entries(holders))(
    "its jobs' archiving does not end it, nor what they made, with %s",
    async (_name, holder) => {
      const { repository, run, night } = nights();
      const service = known();
      const options = { ...holder, ...readOnly, respond: service.respond };
      await night(1, options);
      service.next = "failed";
      await night(2, options);
      service.next = "completed";
      repository.ref("agent/job_1");
      repository.commit("agent/job_1", { files: ["docs/a.md"], message: "Docs\n\nAgent-Job: job_1" });
      repository.merge(1, "agent/job_1", "merge");
      service.archived.add("job_1");
      age(repository);
      expect(filesIn((await night(3, options)).sections)).toEqual(["file2", "file3"]);
      service.archived.add("job_2");
      repository.ref("agent/job_2");
      repository.commit("agent/job_2", { files: ["docs/a.md"], message: "Docs\n\nAgent-Job: job_2" });
      repository.merge(2, "agent/job_2", "merge");
      expect((await run(4, 1, options)).outputs["skip-reason"]).toBe("nothing-new");
    },
  );

  test("a server that archived a job whose end no run saw says what it was told", async () => {
    const { run, night } = nights();
    const service = known();
    const options = { respond: service.respond, inputs: { ...server.inputs, wait: "false" } };
    await night(1, options);
    await night(2, options);
    service.archived.add("job_1");
    expect((await run(3, 1, options)).outputs["skip-reason"]).toBe("nothing-new");
  });

  test("so does one whose turn failed unseen, before another one of its job completed", async () => {
    const { night } = nights();
    const service = known();
    const options = { ...server, respond: service.respond };
    await night(1, options);
    service.next = "running";
    await night(2, { ...options, inputs: { ...server.inputs, "timeout-minutes": "0.5" } });
    Object.assign(service.turns[1] ?? {}, { status: "failed" });
    service.next = "completed";
    const [first] = service.turns;
    if (first) service.turns.push({ ...first, turn: "turn_c", step: "comment", request: "r", covers: undefined });
    expect(filesIn((await night(3, options)).sections)).toEqual(["file2", "file3"]);
  });

  /** Lives through a night, and one that fails. */
  const failedNight = async () => {
    const { run, night } = nights();
    const service = known();
    const options = { ...own, respond: service.respond };
    await night(1, options);
    service.next = "failed";
    await night(2, options);
    return { run, service, options };
  };

  test("a re-run does not send again what a later run was told at the same commit", async () => {
    const { run, service, options } = await failedNight();
    service.next = "completed";
    expect(filesIn((await run(3, 1, options)).sections)).toEqual(["file2"]);
    const late = await run(2, 2, options);
    expect(late.prompts).toEqual([]);
    expect(late.toolkit.annotations.at(-1)?.title).toBe("Changes were covered by another run");
  });

  test("a re-run of a run that failed does not send again what another's re-run was told at the same commit", async () => {
    const { run, service, options } = await failedNight();
    await run(3, 1, options);
    service.next = "completed";
    // It can only read the cache.
    expect((await run(2, 2, { ...options, ...readOnly })).prompts).toHaveLength(1);
    expect((await run(3, 2, options)).prompts).toEqual([]);
  });
});

test("a re-run publishes what is kept, although nothing has changed since the last day", async () => {
  const { repository, run, night } = nights();
  const service = Object.assign(new KeyedService(), {
    features: ["session", "sections"],
    next: "failed",
    kept: "push",
  });
  const options = { ...own, hasCache: false, respond: service.respond };
  expect((await night(1, options)).outputs.outcome).toBe("failed");
  Object.assign(service, { next: "completed", kept: undefined });
  const later = await run(1, 2, { ...options, inputs: { ...own.inputs, "changes-since": repository.head() } });
  expect(later.outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1" });
});

test("failures of nights that did not wait for their end count, too", async () => {
  const { agents, night } = nights();
  await night(1);
  agents.next = "failed";
  const options = { inputs: { wait: "false" } };
  await night(2, options);
  expect((await night(3, options)).outputs).toMatchObject({ outcome: "started", "job-id": "job_1" });
  const { outputs, prompts } = await night(4, options);
  expect(outputs).toMatchObject({ "job-id": "job_2", "job-origin": "created" });
  expect(filesIn(prompts[0])).toEqual(["file2", "file3", "file4"]);
});

test("a failure after a success is the first one again", async () => {
  const { agents, night } = nights();
  for (const [index, status] of (["completed", "failed", "completed", "failed", "completed"] as const).entries()) {
    agents.next = status;
    expect((await night(index + 1)).outputs["job-id"]).toBe("job_1");
  }
});

test("a failed job that rejects the follow-up is replaced", async () => {
  const { agents, night } = nights();
  agents.next = "failed";
  await night(1);
  agents.next = "completed";
  agents.rejectsMessages = true;
  const { outputs, toolkit } = await night(2);
  expect(outputs).toMatchObject({ "job-id": "job_2", "job-origin": "created" });
  expect(toolkit.lines).toContain("Job job_1 rejected the message; sending the request again");
  expect(toolkit.annotations.at(-1)).toMatchObject({ level: "notice", title: "Session starts a new job" });
  expect(toolkit.annotations.at(-1)?.text).toContain(
    "It leaves https://github.com/acme/docs/pull/1: merge or close it.",
  );
});

test.each([401, 403, 429])("one whose follow-up is answered with %i is not", async (status) => {
  const { agents, night } = nights();
  agents.next = "failed";
  await night(1);
  const respond = (request: SeenRequest) => (request.method === "POST" ? respondWith(status) : agents.respond(request));
  const { outputs } = await night(2, { respond, inputs: { "timeout-minutes": "0.2" } });
  expect(outputs.outcome).toBe("error");
  expect(agents.jobs).toHaveLength(1);
});

test("a re-run of a night that failed sends its range to the same job; a later one has nothing left to send", async () => {
  const { agents, night, run } = nights();
  await night(1);
  agents.next = "failed";
  await night(2);
  agents.next = "completed";
  const again = await run(2, 2);
  expect(filesIn(again.prompts[0])).toEqual(["file2"]);
  expect(again.outputs).toMatchObject({ "job-id": "job_1", "job-origin": "continued" });
  expect(filesIn((await night(3)).prompts[0])).toEqual(["file3"]);
});

test("a late re-run of a night that failed says that a later one has covered its range", async () => {
  const { repository, agents, night, run } = nights();
  await night(1);
  agents.next = "failed";
  await night(2);
  await night(3);
  agents.next = "completed";
  expect(filesIn((await night(4)).prompts[0])).toEqual(["file2", "file3", "file4"]);
  const late = await run(2, 2);
  expect(late.prompts).toEqual([]);
  expect(late.outputs).toMatchObject({ outcome: "error", "skip-reason": "" });
  expect(late.toolkit.annotations.at(-1)?.title).toBe("Changes were covered by another run");
  expect(late.toolkit.annotations.at(-1)?.text).toContain(repository.head().slice(0, 7));
  expect(filesIn((await night(5)).prompts[0])).toEqual(["file5"]);
});

test("a late re-run of such a night does not report the success of a later one that has gone on with its job", async () => {
  const { agents, night, run } = nights();
  await night(1);
  agents.next = "failed";
  await night(2);
  agents.next = "completed";
  await night(3);
  const late = await run(2, 2);
  expect(late.prompts).toEqual([]);
  expect(late.outputs).toMatchObject({ outcome: "error", "pr-link": "", "job-origin": "" });
  expect(late.toolkit.annotations.at(-1)?.title).toBe("A later run has continued the job");
  expect(late.toolkit.annotations.at(-1)?.text).toContain("Run 103, a later one of the session");
});

test("a re-run of a night that completed, whose job is gone, sends what that night had sent", async () => {
  const { agents, night, run } = nights();
  await night(1);
  expect(filesIn((await night(2)).prompts[0])).toEqual(["file2"]);
  agents.jobs.length = 0;
  expect(filesIn((await run(2, 2)).prompts[0])).toEqual(["file2"]);
});

test("a re-run of an older night that completed takes nothing back", async () => {
  const { agents, night, run } = nights();
  await night(1);
  await night(2);
  expect((await run(1, 2)).toolkit.annotations.at(-1)?.title).toBe("A later run has continued the job");
  expect(filesIn((await night(3)).prompts[0])).toEqual(["file3"]);
  expect(agents.jobs).toHaveLength(1);
});

test("a re-run of an older night of an earlier job does not make that the session's job again", async () => {
  const { repository, agents, night, run } = nights();
  await night(1);
  repository.pulls.set(1, {
    merged: false,
    state: "closed",
    merge_commit_sha: null,
    base: { sha: "" },
    head: { sha: "" },
    commits: [],
  } as never);
  expect((await night(2)).outputs["job-id"]).toBe("job_2");
  expect((await run(1, 2)).outputs).toMatchObject({ "job-id": "job_1", "job-origin": "resumed" });
  expect((await night(3)).outputs).toMatchObject({ "job-id": "job_2", "job-origin": "continued" });
  expect(agents.jobs).toHaveLength(2);
});

test("on-rerun: new sends the range of the run's first attempt again, after a night that completed", async () => {
  const { agents, night, run } = nights();
  await night(1);
  await night(2);
  const { outputs, prompts } = await run(2, 2, { inputs: { "on-rerun": "new" } });
  expect(outputs.outcome).toBe("pr-created");
  expect(filesIn(prompts[0])).toEqual(["file2"]);
  expect(filesIn((await night(3)).prompts[0])).toEqual(["file3"]);
  expect(agents.jobs).toHaveLength(1);
});

test("a re-run of an older night that creates a job says nothing of what a later one's failed job was told", async () => {
  const { agents, repository, night, run } = nights();
  await night(1);
  Object.assign(repository.pulls.get(1) ?? {}, { merged: true, state: "closed" });
  agents.next = "failed";
  await night(2);
  agents.next = "active";
  agents.rejectsMessages = true;
  await night(3, { inputs: { wait: "false" } });
  const last = agents.jobs.at(-1);
  if (last) last.status = "failed";
  agents.next = "completed";
  expect((await run(2, 2)).outputs).toMatchObject({ "job-id": "job_4", "job-origin": "created" });
  expect(filesIn((await night(4)).prompts[0])).toEqual(expect.arrayContaining(["file3", "file4"]));
});

test("a pull request that only the record of the session's last job named starts nothing once another job has replaced it", async () => {
  const { repository, agents, night, run } = nights();
  agents.next = "active";
  repository.ref("agent");
  await night(1, { inputs: { wait: "false" } });
  const [job] = agents.jobs;
  if (job) job.status = "completed";
  agents.next = "completed";
  repository.commit("main", { files: ["file2"] });
  const before = repository.head();
  repository.commit("agent", { message: "Refresh", files: ["docs/a.md"] });
  repository.merge(1, "agent", "squash");
  Object.assign(repository.pulls.get(1) ?? {}, { state: "closed" });
  // It waited for its runner while a person merged the pull request.
  expect((await run(2, 1, { sha: before })).outputs).toMatchObject({ "job-id": "job_2", "job-origin": "created" });
  expect((await run(3)).outputs).toMatchObject({ outcome: "skipped", "skip-reason": "nothing-new" });
});

test("a night whose end the step did not see counts by what its job came to", async () => {
  for (const status of ["completed", "failed"] as const) {
    const { agents, night } = nights();
    await night(1);
    agents.next = "active";
    await night(2, { inputs: { wait: "false" } });
    const [job] = agents.jobs;
    if (job) job.status = status;
    agents.next = "completed";
    const { prompts } = await night(3);
    expect(filesIn(prompts[0])).toEqual(status === "completed" ? ["file3"] : ["file2", "file3"]);
  }
});

test.each<[string, Partial<MainOptions>]>([
  ["with wait: false", { inputs: { wait: "false" } }],
  ["after a time-out", { inputs: { "timeout-minutes": "0.2" } }],
])("a merged refresh starts nothing %s, because the job's record names its pull request", async (_name, options) => {
  const { repository, agents, night, run } = nights();
  agents.next = "active";
  repository.ref("agent");
  await night(1, options);
  const [job] = agents.jobs;
  if (job) job.status = "completed";
  repository.commit("agent", { message: "Refresh", files: ["docs/a.md"] });
  repository.merge(1, "agent", "squash");
  const { outputs } = await run(2);
  expect(outputs).toMatchObject({ outcome: "skipped", "skip-reason": "nothing-new" });
  expect(agents.jobs[0]?.prompts).toHaveLength(1);
});

test.each<[string, boolean]>([
  ["is open", false],
  ["was merged by another commit", true],
])("a commit that names the session's pull request counts if that %s, by what GitHub says", async (_name, merged) => {
  const { repository, night, run } = nights();
  await night(1);
  repository.pulls.set(1, {
    merged,
    merge_commit_sha: merged ? "f".repeat(40) : null,
    base: { sha: "" },
    head: { sha: "" },
    commits: [],
  });
  repository.commit("main", { message: "Change the API (#1)", files: ["file2"] });
  const { outputs, prompts } = await run(2);
  expect(outputs.outcome).toBe("pr-created");
  expect(filesIn(prompts[0])).toEqual(["file2"]);
});

test.each([
  ["between the session's entry and its own", "list", "-1-job-"],
  ["between the session's entry and its own", "none", "-1-job-"],
  ["and its own entries are gone", "none", "agent-job-"],
])("killed %s, a step finds its job in the session, with changes: %s", async (_, changes, lost) => {
  const { agents, cache, night, run } = nights();
  agents.next = "active";
  await night(1, { inputs: { wait: "false", changes } });
  const isLost = (key: string): boolean => (lost.startsWith("-") ? key.includes(lost) : key.startsWith(lost));
  cache.entries.splice(0, cache.entries.length, ...cache.entries.filter(({ key }) => !isLost(key)));
  const [job] = agents.jobs;
  if (job) job.status = "completed";
  const { outputs } = await run(1, 2, { inputs: { changes } });
  expect(outputs).toMatchObject({ outcome: "pr-created", "job-id": "job_1", "job-origin": "resumed" });
  expect(agents.jobs[0]?.prompts).toHaveLength(1);
});

test.each([
  ["an agent of the step", own],
  ["a server", { inputs: { "base-url": "https://agents.acme.example" } }],
])("after a force-push, a session is told what came after the newest commit that is left: %s", async (_, holder) => {
  const { repository, run, night } = nights();
  const service = known();
  const options = { ...holder, respond: service.respond };
  await night(1, options);
  const first = repository.head();
  await night(2, options);
  repository.refs.set("main", first);
  repository.commit("main", { files: ["file22"] });
  for (const commit of repository.commits.values()) commit.at -= 48 * 3_600_000;
  service.next = "failed";
  expect(filesIn((await night(3, options)).prompts[0])).toEqual(["file22", "file3"]);
  await run(3, 2, options);
  const [asked, again] = service.turns.slice(-2);
  expect(again?.covers).toBe(asked?.covers);
  expect(service.turns).toHaveLength(4);
  // Nor is what an older job of the session brought a change.
  service.next = "completed";
  service.archived.add("job_1");
  await night(4, options);
  repository.commit("main", { message: "Refresh\n\nText\n\nAgent-Turn: 1.0\nAgent-Job: job_1", files: ["a.md"] });
  const { outputs } = await run(5, 1, options);
  expect([outputs["skip-reason"], service.turns.length]).toEqual(["nothing-new", 5]);
});

test("a re-run in what its job left says nothing of a new job, although the session had an older one", async () => {
  const { run, night } = nights();
  const service = known();
  const options = { ...own, respond: service.respond };
  await night(1, options);
  service.archived.add("job_1");
  Object.assign(service, { next: "failed", kept: "unfinished" });
  await night(2, options);
  for (const attempt of [2, 3, 4, 5]) {
    const { outputs, notices } = await run(2, attempt, options);
    expect([outputs["job-id"], notices]).toEqual(["job_2", []]);
  }
});

test("a single 404, or that of a gateway, does not make the session leave its job", async () => {
  const { agents, night } = nights();
  await night(1);
  let polls = 0;
  const once = (request: SeenRequest) =>
    request.method === "GET" && polls++ === 0 ? respondWith(404, { error: "Job not found" }) : agents.respond(request);
  expect((await night(2, { respond: once })).outputs).toMatchObject({ "job-id": "job_1", "job-origin": "continued" });

  const page = (request: SeenRequest) =>
    request.method === "GET" ? respondWith(404, "<html>") : agents.respond(request);
  expect((await night(3, { respond: page })).outputs).toMatchObject({ outcome: "error" });
  const message = (request: SeenRequest) =>
    request.path.endsWith("/message") ? respondWith(404, { error: "No" }) : agents.respond(request);
  expect((await night(4, { respond: message })).outputs).toMatchObject({ outcome: "error" });
  expect(agents.jobs).toHaveLength(1);
});
