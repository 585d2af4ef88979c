import { describe, expect, test } from "vitest";
import type { OwnAgent } from "../../../src/action/own-agent.ts";
import { quote } from "../../../src/runner-kit/quotation.ts";
import { runComment } from "../../support/comment-run.ts";
import { FakeCache } from "../../support/fake-cache.ts";
import { FakeGitHub } from "../../support/fake-github.ts";
import type { Exchange, SeenRequest } from "../../support/fake-transport.ts";
import { KeyedService } from "../../support/keyed-service.ts";
import { type MainOptions, type MainRun, runMain } from "../../support/run-main.ts";

const inputs = { "base-url": "https://agents.example.com" };
const environment = { GITHUB_RUN_ID: "99", GITHUB_JOB: "docs", GITHUB_ACTION: "a" };
const isStop = ({ path }: SeenRequest): boolean => path.endsWith("/stop");

/** A service with a job that runs until it is stopped. */
function running(): KeyedService {
  const service = new KeyedService();
  service.next = "running";
  service.features = ["stop"];
  return service;
}

const attempt = (service: KeyedService, options: Partial<MainOptions> = {}) =>
  runMain({
    respond: service.respond,
    cancelAt: 30_000,
    ...options,
    inputs: { ...inputs, ...options.inputs },
    environment: { ...environment, ...options.environment },
  });

const ownAgent: OwnAgent = {
  connect: (transport) => transport,
  prepare: async () => {},
  check: async () => {},
  end: async () => {},
};
const own = { agent: "editor", "project-id": "", "api-key": "", "base-url": "", "github-token": "t" };

describe("a cancelled step", () => {
  test("stops the turn that it has sent, and says so once the service has confirmed it", async () => {
    const service = running();
    const { outputs, toolkit, clock } = await attempt(service);
    expect(service.turns).toMatchObject([{ status: "stopped" }]);
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1" });
    expect(toolkit.annotations.at(-1)?.text).toBe(
      "The step was cancelled, and the service stopped job job_1: its agent is no longer running.\nTo send the request again, re-run this workflow run.",
    );
    expect(clock.elapsedMs).toBeLessThanOrEqual(32_000);
    service.next = "completed";
    const { outputs: again } = await attempt(service, { runAttempt: 2, cancelAt: 1e9 });
    expect(again).toMatchObject({ outcome: "pr-created", "job-origin": "created" });
  });

  test("says that the service was not reached in time, which may be able to stop the job", async () => {
    const service = running();
    const { toolkit } = await attempt(service, {
      respond: (request) => (request.at >= 30_000 ? { responseMs: 60_000 } : service.respond(request)),
    });
    expect(toolkit.annotations.at(-1)?.text).toContain(
      "job job_1 keeps running: the service was not reached in time to stop it.",
    );
  });

  test("waits until no agent is running, two seconds at most", async () => {
    const slow = running();
    slow.stopsAfter = 3;
    const patient = await attempt(slow);
    expect(patient.toolkit.annotations.at(-1)?.text).toContain("the service stopped job job_1");
    const stuck = running();
    stuck.stopsAfter = Infinity;
    const { toolkit, clock, outputs } = await attempt(stuck);
    expect(outputs.outcome).toBe("cancelled");
    expect(toolkit.annotations.at(-1)?.text).toMatch(
      /was asked to stop job job_1\. It did not confirm that within 2 s/,
    );
    expect(clock.elapsedMs).toBeLessThanOrEqual(32_000);
  });

  test.each<[onRerun: string, sends: number, says: string]>([
    ["resume", 0, "asks the service what became of it, and starts nothing twice."],
    ["new", 1, "sends the request again, beside an agent that still runs."],
  ])(
    "says what a re-run does while the agent may still be running, with on-rerun: %s",
    async (onRerun, sends, says) => {
      const service = running();
      service.stopsAfter = Infinity;
      const options = { inputs: { "on-rerun": onRerun }, cache: new FakeCache() };
      const { toolkit } = await attempt(service, options);
      expect(toolkit.annotations.at(-1)?.text).toContain(`A re-run of this workflow run ${says}`);
      const { requests } = await attempt(service, { ...options, runAttempt: 2 });
      expect(requests.filter(({ method, path }) => method === "POST" && path.endsWith("/job"))).toHaveLength(sends);
    },
  );

  test("is sent again with on-rerun: new, and its own agent is not run for what it has left", async () => {
    const service = running();
    service.stopsAfter = Infinity;
    const options = { inputs: { ...own, "on-rerun": "new" }, agent: ownAgent, cache: new FakeCache() };
    await attempt(service, options);
    expect(service.turns).toMatchObject([{ status: "running" }]);
    [service.stopsAfter, service.next] = [1, "completed"];
    await attempt(service, { ...options, runAttempt: 2, cancelAt: 1e9 });
    expect(service.turns).toMatchObject([{ status: "stopped" }, { status: "completed" }]);
  });

  test.each<[string, (request: SeenRequest, service: KeyedService) => Exchange]>([
    ["rejects it", (request, service) => (isStop(request) ? { response: { status: 500 } } : service.respond(request))],
    ["does not answer", (request, service) => (isStop(request) ? { responseMs: 60_000 } : service.respond(request))],
    [
      "answers nonsense",
      (request, service) => (isStop(request) ? { response: { status: 200, body: {} } } : service.respond(request)),
    ],
  ])("does not say that it was stopped if the service %s", async (_name, respond) => {
    const service = running();
    const { toolkit, clock } = await attempt(service, { respond: (request) => respond(request, service) });
    expect(toolkit.annotations.at(-1)?.text).toContain("was asked to stop job job_1. It did not confirm");
    expect(clock.elapsedMs).toBeLessThanOrEqual(32_000);
  });

  test.each([
    ["completed", /^The step was cancelled\. The work of job job_1 had already ended\.\nTo read its result/],
    // It is sent again then, or what was kept of it is published.
    ["failed", /^The step was cancelled\. Job job_1 had already failed\.\nTo send the request again, re-run/],
  ] as const)("does not say that a job keeps running if its follow-up %s first", async (endsAs, text) => {
    const service = running();
    service.next = "completed";
    await attempt(service);
    service.next = "running";
    service.endsAs = endsAs;
    const { outputs, toolkit } = await attempt(service, { inputs: { "job-id": "job_1", prompt: "More" } });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1" });
    expect(toolkit.annotations.at(-1)?.text).toMatch(text);
  });

  test("reports the pull request of a turn that ended first", async () => {
    const service = running();
    service.endsAs = "completed";
    const { outputs, toolkit } = await attempt(service);
    expect(outputs).toMatchObject({ outcome: "cancelled", status: "completed", "pr-number": "7" });
    expect(toolkit.annotations.at(-1)?.text).toContain("Job job_1 had already reached the status completed");
  });

  test("of an own agent with on-rerun: new is not told to re-run for a result, which a re-run pays for again", async () => {
    const service = running();
    service.endsAs = "completed";
    const { toolkit } = await attempt(service, { inputs: { ...own, "on-rerun": "new" }, agent: ownAgent });
    expect(toolkit.annotations.at(-1)?.text).toMatch(
      /completed\.\nTo continue that job, run the action with job-id job_1/,
    );
  });

  test("stops no turn that is over, by what the service says", async () => {
    const service = running();
    const { outputs, requests, toolkit } = await attempt(service, {
      onClock: (clock) =>
        clock.at(900, () => {
          for (const turn of service.turns) turn.status = "completed";
        }),
      cancelAt: 1000,
    });
    expect(requests.filter(isStop)).toEqual([]);
    expect(outputs).toMatchObject({ outcome: "cancelled", status: "completed", "pr-number": "7" });
    expect(toolkit.annotations.at(-1)?.text).toContain("Job job_1 had already reached the status completed");
  });

  test("finds the job of a request whose answer was lost, and stops it", async () => {
    const service = running();
    const respond = (request: SeenRequest): Exchange =>
      request.method === "POST" && !isStop(request)
        ? { ...service.respond(request), responseMs: 60_000 }
        : service.respond(request);
    const { outputs, toolkit, clock } = await attempt(service, { respond, cancelAt: 1000 });
    expect(outputs).toMatchObject({ outcome: "cancelled", "job-id": "job_1", "job-origin": "created" });
    expect(toolkit.annotations.at(-1)?.text).toContain("the service stopped job job_1");
    // Four seconds for the answer, two for the stop.
    expect(clock.elapsedMs).toBeLessThanOrEqual(7000);
  });

  test("stops the message that it has sent, and no other turn of the job", async () => {
    const service = running();
    service.turns.push({ turn: "other", job: "job_1", prompt: "x", step: "x", request: "x", status: "running" });
    const sendAnother = (): void => {
      for (const turn of service.turns.slice(1)) service.turns.push({ ...turn, turn: "another", request: "another" });
    };
    await attempt(service, {
      inputs: { "job-id": "job_1" },
      onClock: (clock) => clock.at(1000, sendAnother),
    });
    expect(service.turns.map(({ status }) => status)).toEqual(["running", "stopped", "running"]);
  });

  test.each<[string, Partial<MainOptions>, string?]>([
    ["with on-cancel: keep", { inputs: { "on-cancel": "keep" } }, "job_1 keeps running: on-cancel is keep."],
    [
      "of a service that does not announce it",
      {},
      "job_1 keeps running: the service cannot stop a job.\nTo wait for it, re-run this workflow run: nothing is sent again",
    ],
    ["without a wait", { inputs: { wait: "false" }, cancelAt: 100 }],
    ["that timed out", { inputs: { "timeout-minutes": "0.1" } }],
  ])("stops nothing %s", async (name, options, why = "") => {
    const service = running();
    if (name.includes("not announce")) service.features = [];
    const respond = (request: SeenRequest): Exchange => ({ ...service.respond(request), responseMs: 200 });
    const { requests, toolkit } = await attempt(service, { ...options, respond });
    expect(requests.filter(isStop)).toEqual([]);
    expect(service.turns).toMatchObject([{ status: "running" }]);
    expect(toolkit.annotations.at(-1)?.text ?? "").toContain(why);
  });

  test("stops nothing of another job than its own", async () => {
    const service = running();
    const { requests, toolkit } = await attempt(service, {
      onClock: (clock) =>
        clock.at(1000, () => {
          for (const turn of service.turns.splice(0)) {
            service.turns.push({ ...turn, step: "x" }, { ...turn, job: "job_2" });
          }
        }),
    });
    expect(requests.filter(isStop)).toEqual([]);
    expect(toolkit.annotations.at(-1)?.text).toContain("job_1 keeps running: the service did not find its turn.");
  });

  test("stops nothing that an earlier attempt has sent, or that it was told to wait for", async () => {
    const service = running();
    await attempt(service, { inputs: { "timeout-minutes": "0.1" } });
    const { toolkit } = await attempt(service, { runAttempt: 2 });
    expect(toolkit.annotations.at(-1)?.text).toContain("a step only stops what it has sent itself");
    await attempt(service, { inputs: { prompt: "", "job-id": "job_1" } });
    expect(service.turns).toMatchObject([{ status: "running" }]);
  });

  test.each([
    ["cancelled", 30_000],
    ["timed-out", 1e9],
  ])("that is %s stops what its own agent does for an earlier attempt: both end with it", async (outcome, cancelAt) => {
    const service = running();
    // That attempt's runner is lost.
    const respond: MainOptions["respond"] = (request) =>
      isStop(request) ? { response: { status: 500 } } : service.respond(request);
    const options = { agent: ownAgent, inputs: { ...own, "timeout-minutes": "1" } };
    await attempt(service, { ...options, respond });
    expect(service.turns).toMatchObject([{ status: "running" }]);
    const { outputs, toolkit } = await attempt(service, { ...options, runAttempt: 2, cancelAt });
    expect(outputs).toMatchObject({ outcome, "job-origin": "resumed" });
    expect(service.turns).toMatchObject([{ status: "stopped" }]);
    expect(toolkit.annotations.at(-1)?.text).toContain("job_1");
  });

  test("saves its memory and stops its turn in the same two seconds", async () => {
    const service = running();
    service.stopsAfter = Infinity;
    const cache = new FakeCache();
    let saves = 0;
    cache.fault = () => (saves++ === 0 ? undefined : new Promise<void>(() => {}));
    const { clock } = await attempt(service, {
      cache,
      cancelAt: 2000,
      inputs: { "poll-interval-seconds": "60", "max-poll-interval-seconds": "60" },
    });
    expect(clock.elapsedMs).toBeLessThanOrEqual(4100);
  });

  test("in a thread stops its turn, too, and the reply says so", async () => {
    const service = running();
    const github = new FakeGitHub();
    const { outputs } = await runComment(github, { respond: service.respond, inputs, cancelAt: 30_000 });
    expect(outputs.outcome).toBe("cancelled");
    expect(service.turns).toMatchObject([{ status: "stopped" }]);
    expect(github.reply).toContain("the service stopped job");
  });
});

test.each([
  ["completed", "pr-created", "Pull request created, check failed", 0],
  ["failed", "failed", "Job failed, check failed", 1],
  ["stopped", "timed-out", "Timed out", 1],
] as const)("a turn that %s while its step's time is up is %s", async (endsAs, outcome, title, failures) => {
  const service = running();
  Object.assign(service, { endsAs, message: "It ended.", check: "failed", costUsd: 0.5 });
  const cache = new FakeCache();
  const inputs = { ...own, session: "nightly", "timeout-minutes": "1" };
  const { outputs, toolkit } = await attempt(service, { cancelAt: 1e9, cache, agent: ownAgent, inputs });
  expect(outputs.outcome).toBe(outcome);
  expect(toolkit.annotations.map((annotation) => annotation.title)).toEqual([title]);
  const { sent, ...entry } = JSON.parse(cache.entries.at(-1)?.text ?? "{}");
  expect([sent, entry.failures]).toEqual([undefined, failures]);
  if (endsAs === "stopped") return;
  expect(outputs).toMatchObject({ status: endsAs, "pr-number": "7", "check-result": "failed" });
  expect(outputs).toMatchObject({ "final-message": "It ended.", "cost-usd": "0.5" });
});

test.each([
  ["that takes ten seconds to stop is waited for", 40, 1e9, [68, 72]],
  ["that does not stop is waited for as long as nobody cancels the step", Number.POSITIVE_INFINITY, 63_000, [63, 65.5]],
  ["that does not stop is waited for twenty seconds", Number.POSITIVE_INFINITY, 1e9, [78, 81]],
] as const)("at the time limit, a turn %s", async (_what, stopsAfter, cancelAt, [least = 0, most = 0]) => {
  const service = running();
  service.stopsAfter = stopsAfter;
  const cache = new FakeCache();
  const inputs = { ...own, session: "nightly", "timeout-minutes": "1" };
  const { toolkit, clock } = await attempt(service, { cancelAt, cache, agent: ownAgent, inputs });
  // The session is saved after that, in its own time.
  expect(toolkit.annotations.map(({ title }) => title)).toEqual(["Timed out"]);
  expect(JSON.parse(cache.entries.at(-1)?.text ?? "{}")).toMatchObject({ failures: 1 });
  expect(clock.elapsedMs / 1000).toBeGreaterThan(least);
  expect(clock.elapsedMs / 1000).toBeLessThan(most);
});

describe("what the agent said and what it cost", () => {
  const hostile = "Done.\n::error::x\n@octocat <b>#1</b> ##[group]\u001b[31m";

  test("are in the outputs, the log, the summary and the reply, as text", async () => {
    const service = new KeyedService();
    service.message = hostile;
    service.costUsd = 0.0123;
    const github = new FakeGitHub();
    const { outputs, toolkit } = await runComment(github, { respond: service.respond, inputs });
    expect(outputs).toMatchObject({ "final-message": hostile.replace("\u001b", ""), "cost-usd": "0.0123" });
    expect(toolkit.lines).toContain("The agent's last message:");
    expect(toolkit.lines.join("\n")).not.toMatch(/^\s*::error|##\[group/m);
    for (const html of [toolkit.summary, github.reply]) expect(html).toContain(`\n\n${quote(hostile)}\n\n`);
    expect(toolkit.summary).toContain("$0.0123");
  });

  test.each([
    [60, /^> 60\n\n/m],
    [61, /^> 60\n>\n> \\\[truncated\\\]\n\n/m],
  ])("of a message of %i lines, 60 are shown", async (count, end) => {
    const service = new KeyedService();
    service.message = Array.from({ length: count }, (_, index) => `${index + 1}`).join("\n");
    const { outputs, toolkit } = await attempt(service, { cancelAt: 1e9 });
    expect(outputs["final-message"]).toBe(service.message);
    expect(toolkit.summary).toMatch(end);
  });

  test("are empty if the service says nothing, or something else", async () => {
    for (const costUsd of [undefined, -1, 1001, Number.NaN, "1"]) {
      const service = new KeyedService();
      service.costUsd = costUsd as number;
      const { outputs, toolkit } = await attempt(service, { cancelAt: 1e9 });
      expect(outputs).toMatchObject({ "final-message": "", "cost-usd": "" });
      expect(toolkit.summary).not.toMatch(/Cost|last message/);
    }
  });

  test.each([
    ["passed", "check-failed", "passed", []],
    ["failed", "failed, timed-out", "failed", [["warning", "Pull request created, check failed"]]],
    ["failed", "check-failed", "failed", [["error", "Pull request created, check failed"]]],
    ["failed-before", "check-failed", "failed-before", [["warning", "Pull request created"]]],
    ["odd", "check-failed", "", []],
  ])("a check that is %s, with fail-on: %s, is the output %j", async (check, failOn, output, annotations) => {
    const service = new KeyedService();
    service.check = check;
    const { outputs, toolkit } = await attempt(service, { cancelAt: 1e9, inputs: { "fail-on": failOn } });
    expect(outputs).toMatchObject({ outcome: "pr-created", "check-result": output });
    expect(toolkit.annotations.map(({ level, title }) => [level, title])).toEqual(annotations);
    expect(toolkit.summary.includes("<b>Check</b>")).toBe(output !== "");
    expect(toolkit.summary.startsWith("<h2>⚠️ ")).toBe(output === "failed");
  });

  test("the cost is that of all turns of the step, if all are known", async () => {
    const service = new KeyedService();
    service.next = "failed";
    service.costUsd = 0.1;
    await attempt(service, { cancelAt: 1e9 });
    service.next = "completed";
    service.costUsd = 0.2;
    const second = await attempt(service, { cancelAt: 1e9, runAttempt: 2 });
    expect(second.outputs["cost-usd"]).toBe("0.3");
  });
});

describe("a turn that failed", () => {
  const reason = "The agent ended with exit code 1. Its last output:\n::error::no\u001b[31m key";
  const why = "The service says why: The agent ended with exit code 1. Its last output: ::error::no [31m key";

  test("is reported with the reason of the service, as text, and with what a re-run does", async () => {
    const service = new KeyedService();
    service.next = "failed";
    service.reason = reason;
    const { outputs, toolkit } = await attempt(service, { cancelAt: 1e9, cache: new FakeCache() });
    expect(outputs.outcome).toBe("failed");
    const [{ title, text } = { title: "", text: "" }] = toolkit.annotations;
    expect(title).toBe("Job failed");
    expect(text).toBe(
      `Job job_1 failed, and is no longer running. ${why}\nTo send the request again, re-run this workflow run.`,
    );
    expect(toolkit.summary).toContain("<i>The agent ended with exit code 1.");
  });

  const modes: Record<string, (service: KeyedService) => Promise<MainRun>> = {
    "a server": (service) => attempt(service, { cancelAt: 1e9, cache: new FakeCache() }),
    "an agent": (service) => attempt(service, { cancelAt: 1e9, cache: new FakeCache(), agent: ownAgent, inputs: own }),
    "a comment": (service) => runComment(new FakeGitHub(), { respond: service.respond, inputs, environment }),
    "a comment and an agent": (service) =>
      runComment(new FakeGitHub(), { respond: service.respond, agent: ownAgent, inputs: own, environment }),
  };
  const repair =
    /Fix that, then re-run this workflow run; if the workflow file has to change, (?:start a new run|ask again in the thread) instead/;
  const again = /To send the request again, re-run this workflow run\.$/;

  test.each<[failureClass: string, server: RegExp, agent?: RegExp]>([
    ["transient", again],
    ["agent", again],
    ["unheard-of", again],
    [
      "limit",
      /Raise the limit in the service, then re-run\./,
      /Raise the limit in the workflow .*(?:start a new run|ask again in the thread): a re-run has this run's limits\./,
    ],
    ["credit", /Add credit for the agent's model, then re-run this workflow run\./],
    ["model", new RegExp(`Check the name of the model, its key and its address\\. ${repair.source}`)],
    ["setting", repair],
    ["refused", repair],
  ])("has the advice of its class: %s", async (failureClass, server, agent = server) => {
    for (const [mode, run] of Object.entries(modes)) {
      const service = new KeyedService();
      service.next = "failed";
      service.reason = "It says why.";
      service.failureClass = failureClass;
      const { outputs, toolkit } = await run(service);
      expect(outputs.outcome, mode).toBe("failed");
      const { text = "" } = toolkit.annotations.at(-1) ?? {};
      expect(text, mode).toMatch(mode.endsWith("agent") ? agent : server);
      // Nothing promises that a re-run goes on from what the agent did.
      expect(text, mode).not.toMatch(/goes on/);
    }
  });

  test.each([undefined, "/tmp/agent-job.patch"])(
    "at a limit left nothing, unless that is in a file: %s",
    async (workFile) => {
      const service = new KeyedService();
      service.next = "failed";
      service.failureClass = "limit";
      const { toolkit } = await attempt(service, { cancelAt: 1e9, agent: { ...ownAgent, workFile }, inputs: own });
      const isLost = toolkit.annotations.at(-1)?.text.includes("Nothing that the agent did in this turn is kept.");
      expect(isLost).toBe(workFile === undefined);
    },
  );

  test.each<[mode: string, kept: string, failureClass: string, advice: string]>([
    ["an agent", "unfinished", "limit", "and start a new run with job-id: job_1 and the same prompt: a re-run has"],
    [
      "an agent",
      "unfinished",
      "refused",
      "has to change, start a new run with job-id: job_1 and the same prompt instead",
    ],
    [
      "an agent",
      "push",
      "refused",
      "has to change, start a new run with job-id: job_1 and the same prompt. A token of",
    ],
    ["a session", "unfinished", "limit", "and start a new run: a re-run has"],
    ["a session", "push", "refused", "has to change, start a new run. A token of another account may not find a job"],
    ["a comment and an agent", "unfinished", "limit", "and ask again in the thread: a re-run has"],
    ["a comment and an agent", "push", "refused", "has to change, ask again in the thread. A token of"],
    ["a server", "push", "refused", "To send the request again, re-run this workflow run. Job job_1 is"],
    [
      "a server",
      "unfinished",
      "refused",
      "has to change, start a new run with job-id: job_1 and the same prompt instead",
    ],
  ])(
    "names the job from whose work the next request continues: %s, %s, %s",
    async (mode, kept, failureClass, advice) => {
      const service = new KeyedService();
      Object.assign(service, { next: "failed", reason: "It says why.", kept, failureClass });
      const inputs = { ...own, session: "nightly" };
      const cache = new FakeCache();
      const session = () => attempt(service, { cancelAt: 1e9, cache, agent: ownAgent, inputs });
      const { toolkit } = await (mode === "a session" ? session() : (modes[mode]?.(service) ?? session()));
      expect(toolkit.annotations.at(-1)?.text).toContain(advice);
    },
  );

  test("names it in a thread without replies, where every request starts a new job", async () => {
    const service = new KeyedService();
    Object.assign(service, { next: "failed", reason: "It says why.", kept: "unfinished", failureClass: "limit" });
    const inputs = { ...own, reply: "false" };
    const options = { respond: service.respond, agent: ownAgent, inputs, environment };
    const { toolkit } = await runComment(new FakeGitHub(), options);
    expect(toolkit.annotations.at(-1)?.text).toContain("set job-id: job_1 in the workflow and ask again in the thread");
  });

  test("because it was stopped is no error of the agent", async () => {
    const service = new KeyedService();
    service.next = "stopped";
    service.reason = "Somebody stopped the turn.";
    const { outputs, toolkit } = await attempt(service, { cancelAt: 1e9, cache: new FakeCache() });
    expect(outputs.outcome).toBe("failed");
    expect(toolkit.annotations).toEqual([
      {
        level: "error",
        title: "Job stopped",
        text: "Job job_1 was stopped before its agent had finished. It is no longer running. The service says why: Somebody stopped the turn.\nTo send the request again, re-run this workflow run.",
      },
    ]);
  });
});
