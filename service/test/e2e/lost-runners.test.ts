import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type RunAccess, startCacheService } from "../../../test/support/cache-service.ts";
import { step, temporaryFolder } from "../../../test/support/step.ts";
import { isThorough, rows } from "../../../test/support/thorough.ts";
import { letBegunPass } from "../support/begun-refs.ts";
import { killAll } from "../support/kill-all.ts";
import { jobEnvironment, setUpGitHub } from "../support/workflow-job.ts";

/*
 * A step with its own agent whose runner is lost just before each of the requests that it sends to GitHub or the Actions cache. Then it is
 * run again, or the next night of its session comes.
 */

/** Returns whether a runner is lost before the last of these requests. */
type Loss = (requests: readonly string[]) => boolean;

/** Runs of one step, each on an empty runner. */
async function setUp(access: RunAccess) {
  let child: ChildProcess | undefined;
  let seen: string[] = [];
  let isLostBefore: Loss = () => false;
  let lostBefore: string | undefined;
  const onRequest = (what: string, response: ServerResponse): boolean => {
    seen.push(what);
    if (lostBefore === undefined) {
      if (!isLostBefore(seen)) return false;
      lostBefore = what;
      if (child?.pid !== undefined) killAll(child.pid);
    }
    response.destroy();
    return true;
  };
  const { docs, github } = await setUpGitHub((route, response) => onRequest(route, response));
  const fault = (what: string, _n: number, response: ServerResponse): boolean => onRequest(`cache: ${what}`, response);
  const cache = await startCacheService("v1", { access, fault });
  const started = join(temporaryFolder(), "agents");
  const agent = [
    `prompt=$(cat | head -n 1)`,
    `printf '%s\\n' "$prompt" >> ${started}`,
    `printf '%s\\n' "$prompt" > "$(printf %s "$prompt" | tr -dc A-Za-z0-9).md"`,
  ].join("; ");
  /** Runs the step for a night. @param loss - default: its runner is not lost */
  const run = async (id: string, attempt: number, night: string, loss: Loss = () => false) => {
    // GitHub tells who created a branch.
    for (const branch of docs.branches()) github.creators.set(branch, "docs-bot");
    [seen, isLostBefore, lostBefore] = [[], loss, undefined];
    const inputs = {
      agent,
      "agent-options": "--sandbox none\n--agent-network full",
      prompt: night,
      "github-token": github.token,
      "poll-interval-seconds": "0.05",
      "max-poll-interval-seconds": "0.1",
      session: "nightly",
    };
    const environment = {
      ...jobEnvironment(github),
      ...cache.environment,
      GITHUB_RUN_ID: id,
      GITHUB_RUN_ATTEMPT: String(attempt),
      GITHUB_JOB: "docs",
      GITHUB_ACTION: "agent",
      GITHUB_REPOSITORY_ID: "1",
    };
    const ran = await step(inputs, {
      environment,
      onStart: (process) => {
        child = process;
      },
    });
    return { ...ran, lostBefore };
  };
  /** The prompts of the agents that were started. */
  const agents = (): string[] => (existsSync(started) ? readFileSync(started, "utf8").trim().split("\n") : []);
  /** The pages on a branch. */
  const pages = (branch: string): string[] =>
    docs.branches().includes(branch) ? docs.git("ls-tree", "--name-only", branch).split("\n") : [];
  const pulls = async () => (await github.call("GET", "/pulls?state=all")) as { number: number }[];
  const dispose = async (): Promise<void> => {
    await cache[Symbol.asyncDispose]();
    await github[Symbol.asyncDispose]();
  };
  return { docs, cache, run, agents, pages, pulls, [Symbol.asyncDispose]: dispose };
}

const then = {
  "a re-run": { id: "1", attempt: 2, night: "Night 1" },
  "the next night": { id: "2", attempt: 1, night: "Night 2" },
} as const;

const rowsOf = (["none", "write", "read"] as const).flatMap((access) =>
  (Object.keys(then) as (keyof typeof then)[]).map((next) => ({ access, next })),
);

/** Returns the losses of a row: before each request, or in `npm test` before the one that is most likely to be made twice. */
function* losses(): Generator<Loss> {
  if (isThorough) for (let count = 1; ; count++) yield (requests) => requests.length === count;
  yield (requests) =>
    requests.at(-1)?.startsWith("POST /repos/") === true && requests.at(-1)?.endsWith("/pulls") === true;
}

test.each(rows(rowsOf, 2))(
  "a runner is lost before each request, with a cache to $access, then $next: no work is made twice, or told of without being there",
  async ({ access, next }) => {
    const broken: string[] = [];
    for (const loss of losses()) {
      await using world = await setUp(access);
      const { docs, cache, run, agents, pages, pulls } = world;
      const { lostBefore } = await run("1", 1, "Night 1", loss);
      if (lostBefore === undefined) break;
      const isPushed = docs.branches().some((branch) => pages(branch).includes("Night1.md"));
      const isStored =
        cache.entries.some(({ key, isCommitted }) => isCommitted && key.includes("commit")) ||
        /\/(?:made|unfinished)$/m.test(docs.git("for-each-ref", "refs/agent-work"));
      const before = agents().length;
      const { id, attempt, night } = then[next];
      if (attempt === 1) letBegunPass(docs);
      const { exitCode, outputs, annotations } = await run(id, attempt, night);
      const { outcome = "", ref = "" } = outputs;
      const [again, all] = [agents().slice(before), agents()];
      const opened = (await pulls()).length;
      const isThere = pages(ref).includes(`${night.replace(" ", "")}.md`);
      const hasFirst = docs.branches().some((branch) => pages(branch).includes("Night1.md"));
      const rules = {
        "a second agent for what was made": again.includes("Night 1") && (isPushed || isStored),
        "a third agent": new Set(all).size < all.length - 1,
        "more than one pull request": opened > 1,
        "a success that is not there": outcome === "pr-created" && !(isThere && opened === 1),
        // Without the cache, GitHub may not show yet what was just made.
        "another outcome":
          outcome !== "pr-created" && !(outcome === "error" && again.length === 0 && access !== "write"),
        "another exit code": (exitCode === 0) !== (outcome === "pr-created"),
        "work that is gone": isPushed && !hasFirst,
      };
      for (const [rule, isBroken] of Object.entries(rules))
        if (isBroken)
          broken.push(`${lostBefore}: ${rule}: ${outcome}, ${all.join()}, ${opened}, ${annotations.join()}`);
    }
    expect(broken).toEqual([]);
  },
  3_600_000,
);
