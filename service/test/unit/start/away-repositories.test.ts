import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { Problems } from "../../../src/api/problems.ts";
import { RateLimitError } from "../../../src/pulls/github/github-error.ts";
import { AwayRepositories } from "../../../src/start/away-repositories.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

function setUp() {
  const machine = new FakeMachine();
  const lines: string[] = [];
  const problems = new Problems(() => {}, undefined, machine);
  /** What each check of the repository is to end with, in order. Default: it works. */
  const errors: Error[] = [];
  const checkedAt: number[] = [];
  const startedAt = machine.now();
  const check = async (): Promise<void> => {
    checkedAt.push((machine.now() - startedAt) / 1000);
    const error = errors.shift();
    if (error !== undefined) throw error;
  };
  const stop = new AbortController();
  const repositories = new Map([
    ["https://example.com/docs", { names: ["docs", "manual"], check }],
    ["https://example.com/web", { names: ["web"], check: async () => {} }],
  ]);
  const log = (line: string) => void lines.push(line);
  const away = new AwayRepositories({ repositories, signal: stop.signal, log, problems, machine });
  const passSeconds = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      machine.pass(1000);
      await setImmediate();
    }
  };
  return { away, stop, lines, problems, errors, checkedAt, passSeconds };
}

const docs = "https://example.com/docs";
const out = new Error("it does not answer");

test("a repository that is away is tried each minute or more often, and is told of once", async () => {
  const { away, lines, problems, errors, checkedAt, passSeconds } = setUp();
  let backs = 0;
  away.onBack = () => {
    backs++;
  };
  errors.push(...Array<Error>(8).fill(out));
  away.startsAway(docs, "HTTP 503");
  away.begin(docs, "again");
  expect([away.isAny, away.has(docs), away.has("https://example.com/web")]).toEqual([true, true, false]);
  expect(problems.current.repositories?.problem).toBe(
    "turns of docs, manual wait for their repository; the log says why",
  );
  await passSeconds(243);
  expect(checkedAt).toEqual([1, 3, 7, 15, 31, 63, 123, 183, 243]);
  expect([away.isAny, backs, problems.current]).toEqual([false, 1, {}]);
  expect(lines).toEqual([
    `Project docs, manual, repository ${docs}, cannot be used now: HTTP 503. Its turns wait, and it is tried again every minute or more often.`,
    `Project docs, manual, repository ${docs}, can be used again.`,
  ]);
});

test("nobody is told of an outage that is over after a second", async () => {
  const { away, lines, problems, checkedAt, passSeconds } = setUp();
  away.begin(docs, "HTTP 503");
  await passSeconds(1);
  expect([away.isAny, lines, problems.current, checkedAt]).toEqual([false, [], {}, [1]]);
});

test("a repository is not asked again before its host's limit is over, and people know at once", async () => {
  const { away, lines, problems, errors, checkedAt, passSeconds } = setUp();
  errors.push(new RateLimitError("wait", 403, 300_000));
  away.begin(docs, "rate limit until 12:30 UTC", 1_800_000);
  expect(lines).toHaveLength(1);
  expect(problems.current.repositories).toBeDefined();
  await passSeconds(2100);
  expect([checkedAt, away.isAny]).toEqual([[1800, 2100], false]);
});

test("a service that stops tries nothing more", async () => {
  const { away, stop, checkedAt, passSeconds } = setUp();
  away.begin(docs, "HTTP 503");
  stop.abort();
  await passSeconds(60);
  expect(checkedAt).toEqual([]);
});
