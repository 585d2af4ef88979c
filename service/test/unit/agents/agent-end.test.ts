import { describe, expect, test } from "vitest";
import { type AgentWitnesses, type EndContext, endOf, explainEnd } from "../../../src/agents/agent-end.ts";

const said = {
  success: { hasEnded: true, message: "Done", error: undefined },
  error: { hasEnded: true, message: undefined, error: "the disk is gone" },
  nothing: { hasEnded: false, message: undefined, error: undefined },
  /** A command, or aider: only its exit code says how it ended. */
  "no event": { message: undefined, error: undefined },
} as const;
const exits = { 0: undefined, 1: 1, 143: 143 } as const;
const clocks = ["itself", "stop", "time-limit", "silence", "wait", "other-session"] as const;
const models = { silent: undefined, 200: { lastStatus: 200 }, 529: { lastStatus: 529 } } as const;

/** All combinations of what is known of how an agent's run ended. */
const all = Object.entries(said).flatMap(([event, report]) =>
  Object.entries(exits).flatMap(([exit, exitCode]) =>
    clocks.flatMap((clock) =>
      Object.entries(models).map(([answer, model]) => {
        const known: AgentWitnesses = {
          ...report,
          ...(exitCode && { exitCode }),
          ...(clock !== "itself" && { endedBy: clock }),
          ...(model && { model }),
        };
        return { event, exit, clock, answer, known: { ...known, end: endOf(known) } };
      }),
    ),
  ),
);

const context: EndContext = { timeLimitMs: 90_000, lastOutput: "last line" };

test("the ending follows from the witness that knows most, and no other one destroys it", () => {
  const table = new Map<string, Set<string>>();
  for (const { event, exit, clock, known } of all) {
    const row = `${event}, ${clock === "itself" ? `exit ${exit === "0" ? "0" : "other"}` : clock}`;
    table.set(row, new Set([...(table.get(row) ?? []), known.end]));
  }
  expect(Object.fromEntries([...table].map(([row, ends]) => [row, [...ends].join()]))).toEqual({
    "success, exit 0": "completed",
    "success, exit other": "completed",
    "success, stop": "stopped",
    "success, time-limit": "completed",
    "success, silence": "completed",
    "success, wait": "completed",
    "success, other-session": "failed",
    "error, exit 0": "failed",
    "error, exit other": "failed",
    "error, stop": "stopped",
    "error, time-limit": "failed",
    "error, silence": "failed",
    "error, wait": "failed",
    "error, other-session": "failed",
    "nothing, exit 0": "failed",
    "nothing, exit other": "failed",
    "nothing, stop": "stopped",
    "nothing, time-limit": "timed-out",
    "nothing, silence": "failed",
    "nothing, wait": "failed",
    "nothing, other-session": "failed",
    "no event, exit 0": "completed",
    "no event, exit other": "failed",
    "no event, stop": "stopped",
    "no event, time-limit": "timed-out",
    "no event, silence": "failed",
    "no event, wait": "failed",
    "no event, other-session": "failed",
  });
});

describe("every failure", () => {
  const failures = all.filter(({ known }) => known.end === "failed" || known.end === "timed-out");

  test("has a class, and names every witness that there is", () => {
    for (const { event, exit, clock, answer, known } of failures) {
      const { reason = "", failureClass, lines } = explainEnd(known, context);
      expect(failureClass).toBeDefined();
      expect(reason).toContain(
        event === "error" ? "The agent reported: the disk is gone" : "Its last output:\nlast line",
      );
      if (answer === "529") expect(reason).toMatch(/the status 529|answered 529/);
      else expect(reason).not.toContain("the status");
      if (exit === "143" && clock === "itself") expect(reason).toContain("signal 15");
      if (exit === "1" && clock === "itself") expect(reason).toContain("exit code 1");
      if (event !== "error") expect(reason).not.toContain("reported");
      expect(lines.join(" ")).not.toContain("last line");
    }
  });

  test.each<[failureClass: string, what: string, known: Partial<AgentWitnesses>, context?: Partial<EndContext>]>([
    ["limit", "the clock", { endedBy: "time-limit", model: { lastStatus: 529 } }],
    ["limit", "a limit of the service", { exitCode: 137 }, { exceeded: { kind: "memory-limit", what: "much" } }],
    ["limit", "the agent's own limit", { hasEnded: true, error: "Reached maximum number of turns (3)" }],
    ["limit", "a limit of tokens", { hasEnded: true, error: "Model a has hit a token limit! Token counts below" }],
    ["limit", "a limit that its event names", { hasEnded: true, error: "stopped", failureClass: "limit" }],
    ["credit", "no credit", { hasEnded: true, error: "Your credit balance is too low to access the Anthropic API" }],
    [
      "credit",
      "a quota",
      { hasEnded: true, error: "429: You exceeded your current quota, check your plan and billing" },
    ],
    ["credit", "the status 402", { hasEnded: true, error: "it failed", model: { lastStatus: 402 } }],
    ["model", "a key", { hasEnded: true, error: "API Error: 401 invalid x-api-key" }],
    ["model", "a model", { hasEnded: true, error: "The model `gpt-9` does not exist or you do not have access to it" }],
    ["model", "the status 404", { hasEnded: false, exitCode: 1, model: { lastStatus: 404 } }],
    ["transient", "the status 529", { hasEnded: false, exitCode: 1, model: { lastStatus: 529 } }],
    [
      "transient",
      "a role that ended",
      { hasEnded: true, error: "API Error: 403 The security token included in the request is expired" },
    ],
    [
      "transient",
      "a token that ended",
      { hasEnded: true, error: "API Error: 401 OAuth token has expired. Obtain a new one" },
    ],
    ["model", "a key that ended", { hasEnded: true, error: "API Error: 401 expired api key" }],
    ["transient", "an overload", { hasEnded: true, error: "API Error: Repeated 529 Overloaded errors" }],
    ["transient", "a long wait", { endedBy: "wait", hasEnded: false, model: { lastStatus: 429 } }],
    ["transient", "a connection", { hasEnded: true, error: "Connection error." }],
    [
      "setting",
      "a program that is missing",
      { hasEnded: false, exitCode: 127 },
      { lastOutput: "sh: claude: not found" },
    ],
    ["agent", "a crash", { hasEnded: false, exitCode: 139 }],
    ["agent", "a command's exit code", { exitCode: 3 }],
    ["transient", "a code of the system", { hasEnded: true, error: "connect ECONNREFUSED 127.0.0.1" }],
    ["agent", "an error of the API", { hasEnded: true, error: "API Error: 400 messages: at least one is required" }],
    ["agent", "what nobody knows", { hasEnded: true, error: "the disk is gone" }],
  ])("is of the class %s: %s", (failureClass, _what, known, more = {}) => {
    const witnesses = { message: undefined, error: undefined, ...known };
    const explained = explainEnd({ ...witnesses, end: endOf(witnesses) }, { ...context, lastOutput: "", ...more });
    expect(explained).toMatchObject({ failureClass, reason: expect.any(String) });
  });
});

test.each([
  ["API Error: 403 ExpiredTokenException: the session is over", 403, "a new run gets a new one"],
  ["API Error: 401 The access token expired on Friday", 401, "a new run gets a new one"],
  ["Your credit balance is too low", 400, "has no credit or quota left: add some"],
  ["API Error: Request rejected (429)", 429, "has reached its limit of requests: start again later"],
])("says what helps against %s", (error, lastStatus, help) => {
  const known = { message: undefined, error, hasEnded: true, model: { lastStatus } };
  expect(explainEnd({ ...known, end: "failed" }, context).reason).toContain(help);
});

// As Claude Code 2.1.330 and Codex CLI 0.169.0 print it; the named agents start as their own tests show.
test.each<[mistake: string, lastOutput: string, exitCode: number]>([
  [
    "started by root",
    "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
    1,
  ],
  [
    "started with questions",
    'ERROR: TERM is set to "dumb". Refusing to start the interactive TUI because no terminal is available for a confirmation prompt (stdin/stderr is not a TTY).',
    1,
  ],
  ["without a key", "Not logged in · Please run /login", 1],
  ["not allowed to write", "I need your permission to write to docs/one.md.", 0],
])("a script whose agent is %s is told what starts it", (_mistake, lastOutput, exitCode) => {
  const known = { message: undefined, error: undefined, exitCode };
  const { lines } = explainEnd({ ...known, end: endOf(known) }, { ...context, lastOutput });
  expect(lines.join(" ")).toContain("the agent's name alone in its place, such as claude, starts it with its key");
});

test("what came after a result is told, and nothing of an ordinary end", () => {
  const notes = (known: Partial<AgentWitnesses>, more: Partial<EndContext> = {}) =>
    explainEnd({ ...said.success, ...known, end: "completed" }, { ...context, ...more }).notes;
  expect(notes({})).toEqual([]);
  expect(notes({ exitCode: 1 })).toEqual(["After its result, the agent ended with exit code 1."]);
  expect(notes({ exitCode: 143 })).toEqual(["After its result, the agent ended with signal 15."]);
  expect(notes({ endedBy: "silence" })).toEqual([expect.stringContaining("stayed after its result")]);
  expect(notes({ endedBy: "time-limit" })).toEqual([expect.stringContaining("ended at the time limit")]);
  const exceeded = { kind: "memory-limit", what: "more than 5 MB of memory" } as const;
  expect(notes({ exitCode: 137 }, { exceeded })).toEqual([expect.stringContaining("more than 5 MB of memory")]);
});

test("a host that was denied is named with the option that allows it", () => {
  const known = { ...said.nothing, endedBy: "time-limit", model: { lastDenied: "api.example.com:443" } } as const;
  expect(explainEnd({ ...known, end: endOf(known) }, context).reason).toContain(
    "denied a connection to api.example.com:443: --model-host allows a host",
  );
});
