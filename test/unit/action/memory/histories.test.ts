import { expect, test } from "vitest";
import type { GitHub } from "../../../../src/action/runner/github.ts";
import { GitHubError } from "../../../../src/action/runner/github-error.ts";
import { CacheReadOnlyError } from "../../../../src/runner-kit/cache.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

/** How an attempt goes. What is lost is lost with its runner, which nobody told it. */
const courses = [
  "well",
  "saves refused",
  "no cache",
  "on-rerun: new",
  "lost before its job is saved",
  "lost before it sends",
  "rejected",
] as const;
type Course = (typeof courses)[number];

interface Job {
  id: string;
  isUsable: boolean;
}

/** What a workflow run has come to after some attempts. */
interface Progress {
  entries: FakeCache["entries"];
  jobs: readonly Job[];
  /** How many jobs an attempt with `on-rerun: new` has left on purpose. */
  left: number;
  /** How often a job was started beside one of use, and how often nothing although there was none. */
  second: number;
  stuck: number;
}

const nothing: Progress = { entries: [], jobs: [], left: 0, second: 0, stuck: 0 };

/** Plays the next attempt of a workflow run through the whole action. */
async function play(
  progress: Progress,
  attempt: number,
  course: Course,
  { isRecordReadable, isUsable }: { isRecordReadable: boolean; isUsable: boolean },
): Promise<Progress> {
  const cache = new FakeCache();
  cache.entries.push(...progress.entries.map((entry) => ({ ...entry })));
  const jobs = [...progress.jobs];
  const isLost = course === "lost before it sends";
  const before = jobs.length;
  const left = course === "on-rerun: new" ? before : progress.left;
  const hadUsable = jobs.slice(left).some((job) => job.isUsable);
  const respond = ({ method, path }: SeenRequest): Exchange => {
    if (method === "POST") {
      if (course === "rejected") return respondWith(401, { error: "no" });
      if (isLost) return { failure: "no-response" };
      jobs.push({ id: `job_${attempt}`, isUsable });
      return respondWith(201, record({ id: `job_${attempt}` }));
    }
    const job = jobs.find(({ id }) => path.endsWith(id));
    return respondWith(200, record({ id: job?.id, status: job?.isUsable ? "completed" : "failed", prLink }));
  };
  cache.fault = (operation) => {
    if (course === "saves refused" && operation === "save") throw new CacheReadOnlyError("read-only");
  };
  const saved = new Set(cache.entries);
  const { outputs } = await runMain({
    respond,
    runAttempt: attempt,
    inputs: { "github-token": "ghs_0123456789", ...(course === "on-rerun: new" && { "on-rerun": "new" }) },
    github: gitHubOf(attempt, isRecordReadable),
    environment: {
      GITHUB_RUN_ID: "99",
      GITHUB_JOB: "docs",
      GITHUB_ACTION: "a",
      GITHUB_REPOSITORY: "acme/docs",
      RUNNER_NAME: "r",
    },
    ...(course !== "no cache" && { cache }),
  });
  const isKept = (key: string): boolean => !/-\d+-(job|not-sent)-[0-9a-f]{32}-/.test(key);
  const entries = course.startsWith("lost")
    ? cache.entries.filter((one) => saved.has(one) || isKept(one.key))
    : cache.entries;
  const isSecond = jobs.length > before && hadUsable && course !== "on-rerun: new";
  // What was rejected is no question to a person.
  const isStuck =
    outputs.outcome === "error" && jobs.length === before && !hadUsable && !isLost && course !== "rejected";
  return { entries, jobs, left, second: progress.second + Number(isSecond), stuck: progress.stuck + Number(isStuck) };
}

/** Plays all histories of three attempts. Those that begin in the same way share that. */
async function* playAll(isRecordReadable: boolean, fates: readonly boolean[]) {
  const options = (attempt: number) => ({ isRecordReadable, isUsable: fates[attempt - 1] === true });
  for (const first of courses) {
    const one = await play(nothing, 1, first, options(1));
    for (const next of courses) {
      const two = await play(one, 2, next, options(2));
      for (const last of courses) yield { history: [first, next, last], ...(await play(two, 3, last, options(3))) };
    }
  }
}

/** GitHub's record, by which every attempt ran the step. */
function gitHubOf(own: number, isReadable: boolean): GitHub {
  return {
    request: async (_route, { attempt_number: attempt }) => {
      if (!isReadable) throw new GitHubError("Resource not accessible by integration", 403);
      const isOwn = attempt === own;
      const step = { number: 2, name: "s", status: isOwn ? "in_progress" : "completed", started_at: "x" };
      const job = { name: "docs", status: isOwn ? "in_progress" : "completed", conclusion: isOwn ? null : "failure" };
      return { total_count: 1, jobs: [{ ...job, runner_name: "r", steps: [step] }] };
    },
    paginate: async () => [],
  };
}

/** Which of the jobs of the first two attempts stays of use; what became of the last one changes nothing. */
const fates = [true, false].map((first) => [first, !first, true] as const);

test("with a record that can be read, no history of three attempts starts a job beside one that is of use", async () => {
  const table: string[] = [
    "GitHub's record | histories | a second job beside one of use | refused although there is none",
  ];
  const causes = new Map<string, number>();
  for (const isRecordReadable of [true, false]) {
    const total = { histories: 0, second: 0, stuck: 0 };
    for (const isUsable of fates) {
      for await (const { history, second, stuck } of playAll(isRecordReadable, isUsable)) {
        total.histories++;
        total.second += second;
        total.stuck += stuck;
        if (second === 0) continue;
        causes.set(history.join(", "), (causes.get(history.join(", ")) ?? 0) + second);
        // Without a record, only an attempt that could not leave a word, or not read one, is the cause.
        expect(
          history.some((course) => course === "saves refused" || course === "no cache"),
          history.join(),
        ).toBe(true);
      }
    }
    const { histories: count, second, stuck } = total;
    table.push(`${isRecordReadable ? "readable" : "unreadable"} | ${count} | ${second} | ${stuck}`);
    if (isRecordReadable) expect([...causes]).toEqual([]);
  }
  console.log(
    [
      ...table,
      ...[...causes]
        .sort((a, b) => b[1] - a[1])
        .slice(0, 10)
        .map(([history, n]) => `${n} × ${history}`),
    ].join("\n"),
  );
});
