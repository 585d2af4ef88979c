import { describe, expect, test } from "vitest";
import type { OwnAgent } from "../../../../src/action/own-agent.ts";
import { runComment } from "../../../support/comment-run.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import { FakeRepository } from "../../../support/fake-repository.ts";
import { KeyedService } from "../../../support/keyed-service.ts";
import { type MainOptions, type MainRun, respondWith, runMain } from "../../../support/run-main.ts";

/** Who runs the agent. Both say what was sent under a step: the own agent's service to any attempt, a server to the same key. */
const holders = ["own agent", "server"] as const;
type Holder = (typeof holders)[number];

const agent: OwnAgent = {
  connect: (transport) => transport,
  prepare: async () => {},
  check: async () => {},
  end: async () => {},
};
const holderOptions: Record<Holder, Partial<MainOptions>> = {
  "own agent": { agent, inputs: { agent: "editor", "project-id": "", "api-key": "", "github-token": "t" } },
  server: { inputs: { "base-url": "https://agents.example.com" } },
};
const common = { GITHUB_REPOSITORY: "acme/docs", GITHUB_REPOSITORY_ID: "7", RUNNER_OS: "Linux", GITHUB_JOB: "docs" };

/** What becomes of a request, and in which memories besides the service. The first request creates the job, the second is a message. */
interface Place {
  /** Runs an attempt of the first or second request. */
  run: (request: 1 | 2, attempt: number, options: MainOptions) => Promise<MainRun>;
  cache: FakeCache;
}

const session = (request: number) => ({ GITHUB_RUN_ID: String(100 + request), GITHUB_ACTION: "a" });
const comments = (environment: Record<string, string>): Place => {
  const github = new FakeGitHub();
  const cache = new FakeCache();
  return {
    cache,
    run: (request, attempt, options) =>
      runComment(github, {
        ...options,
        cache,
        attempt,
        payload: { comment: { id: 70 + request, body: "/agent go", user: { id: 5, login: "writer", type: "User" } } },
        environment: { ...common, ...session(request), ...environment, ...options.environment },
      }),
  };
};

const places: Record<string, () => Place> = {
  "the reply": () => comments({ ACTIONS_CACHE_MODE: "read" }),
  "the reply, and words in the cache": () => comments({}),
  "a session and words in the cache": () => {
    const cache = new FakeCache();
    return {
      cache,
      run: (request, attempt, options) =>
        runMain({
          ...options,
          cache,
          runAttempt: attempt,
          inputs: { session: "nightly", ...options.inputs },
          environment: { ...common, ...session(request), ...options.environment },
        }),
    };
  },
};

/** What the service says of the first attempt's turn when the second one asks. */
const answers = {
  "has it, completed": ({ turns }: KeyedService) => Object.assign(turns.at(-1) ?? {}, { status: "completed" }),
  "has it, failed": ({ turns }: KeyedService) => Object.assign(turns.at(-1) ?? {}, { status: "failed" }),
  // The runner was lost before the turn was saved.
  "has lost it": ({ turns }: KeyedService) => turns.pop(),
  // The secret has become another key since.
  "has it under another key": ({ turns }: KeyedService) =>
    Object.assign(turns.at(-1) ?? {}, { status: "completed", step: "of another key" }),
};
type Answer = keyof typeof answers;

/** Returns whether the second attempt has the first one's turn for its result, and sends nothing. */
function isResumed(answer: Answer, request: 1 | 2): boolean {
  // Under another key, only the word of a create names it.
  return answer === "has it, completed" || (answer === "has it under another key" && request === 1);
}

const cells = Object.keys(places).flatMap((place) =>
  holders.flatMap((holder) =>
    ([1, 2] as const).flatMap((request) =>
      (Object.keys(answers) as Answer[])
        .filter((answer) => holder === "server" || answer !== "has it under another key")
        .map((answer) => ({ place, holder, request, answer })),
    ),
  ),
);

describe("memories that disagree", () => {
  test.each(cells)("$place; the service of the $holder $answer; request $request", async (cell) => {
    const { holder, request, answer } = cell;
    const service = new KeyedService();
    const { run, cache } = (places[cell.place] as () => Place)();
    const options = { ...holderOptions[holder], respond: service.respond };
    if (request === 2) await run(1, 1, options);
    service.next = "running";
    // What an attempt saves before it is lost, it saves before this.
    const first = await run(request, 1, { ...options, inputs: { ...options.inputs, "timeout-minutes": "0.5" } });
    expect(first.outputs.outcome).toBe("timed-out");
    service.next = "completed";
    answers[answer](service);
    const sent = service.turns.length;

    const { outputs } = await run(request, 2, options);
    const isKept = isResumed(answer, request);
    expect(service.turns.length - sent).toBe(isKept ? 0 : 1);
    expect(outputs.outcome).toBe("pr-created");
    expect(outputs["job-origin"] === "resumed").toBe(isKept);
    const others = cache.entries.filter(({ key }) => !key.startsWith("agent-session-"));
    if (holder === "own agent") expect(others).toEqual([]);
  });

  test.each(Object.keys(places))(
    "an own agent's service that does not answer is never one that has nothing: %s",
    async (name) => {
      const service = new KeyedService();
      const { run } = (places[name] as () => Place)();
      const options = { ...holderOptions["own agent"], respond: service.respond };
      await run(1, 1, options);
      const { outputs, requests } = await run(1, 2, { ...options, respond: () => respondWith(503) });
      expect(requests.filter(({ method }) => method === "POST")).toEqual([]);
      expect(outputs.outcome).toBe("error");
    },
  );
});

const repository = new FakeRepository();
const [first, second] = ["a", "b"].map((file) => repository.commit("main", { files: [file] }));
/** How a night's follow-up ends, and how far the session has come then. An own agent ends with its step: its turn has failed, or was stopped by a cancel. */
const endings = {
  completed: { options: {}, progress: { commit: second, failures: 0 } },
  failed: { options: {}, progress: { commit: first, failures: 1 } },
  "timed out": {
    options: { inputs: { "timeout-minutes": "0.5" } },
    progress: { commit: first, failures: 1 },
    open: { commit: first, failures: 0, sent: { covers: second } },
  },
} as const satisfies Record<string, { options: Partial<MainOptions>; progress: object; open?: object }>;

test.each(
  holders.flatMap((holder) => (Object.keys(endings) as (keyof typeof endings)[]).map((ending) => ({ holder, ending }))),
)("a session knows how far it has come after a follow-up to the $holder that $ending", async ({ holder, ending }) => {
  const service = new KeyedService();
  const { run, cache } = (places["a session and words in the cache"] as () => Place)();
  const inputs = { ...holderOptions[holder].inputs, changes: "list", "github-token": "t" };
  const options = { ...holderOptions[holder], inputs, github: repository, respond: service.respond };
  const at = (sha = "") => ({ GITHUB_EVENT_NAME: "schedule", GITHUB_SHA: sha });
  const entries = () =>
    cache.entries.filter(({ key }) => key.startsWith("agent-session-")).map(({ text }) => JSON.parse(text));
  await run(1, 1, { ...options, environment: at(first) });
  expect(entries().at(-1)).toMatchObject({ commit: first, failures: 0 });
  const before = entries().length;
  let meanwhile: unknown[] = [];
  service.next = ending === "completed" || ending === "failed" ? ending : "running";
  const { options: more, progress, ...unseen } = { open: undefined, ...endings[ending] };
  await run(2, 1, {
    ...options,
    ...more,
    inputs: { ...options.inputs, ...("inputs" in more ? more.inputs : {}) },
    environment: at(second),
    onClock: (clock) =>
      clock.at(2000, () => {
        meanwhile = entries().slice(before);
      }),
  });
  const isOwn = holder === "own agent";
  // One that is lost with its runner has covered nothing, whatever the job's status says.
  if (ending === "timed out") expect(meanwhile).toHaveLength(isOwn ? 0 : 1);
  const { commit, failures, sent } = entries().at(-1);
  expect({ commit, failures, sent }).toEqual({ sent: undefined, ...((!isOwn && unseen.open) || progress) });
});

test("a session whose run may only read the cache writes nothing there", async () => {
  const { run, cache } = (places["a session and words in the cache"] as () => Place)();
  const options = { ...holderOptions.server, respond: new KeyedService().respond };
  const { outputs } = await run(1, 1, { ...options, environment: { ACTIONS_CACHE_MODE: "read" } });
  expect([outputs.outcome, cache.entries]).toEqual(["pr-created", []]);
});
