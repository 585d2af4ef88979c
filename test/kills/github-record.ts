import type { ServerResponse } from "node:http";
import type { Random } from "../../service/test/chaos/random.ts";
import type { GitHubFault } from "../support/github-server.ts";

/** The name of the runner of every attempt. */
export const runnerName = "runner-1";

const startedAt = "2026-01-05T12:00:00Z";
const own = { number: 2, name: "Run the agent" };
const checkout = { number: 1, name: "Checkout", status: "completed", conclusion: "success", started_at: startedAt };

/** How GitHub shows the job of an attempt in which this step did not start. */
const notStarted = [
  {
    status: "completed",
    conclusion: "failure",
    steps: [
      { ...checkout, conclusion: "failure" },
      { ...own, status: "completed", conclusion: "skipped", started_at: startedAt },
    ],
  },
  { status: "completed", conclusion: "skipped", steps: [] },
  { status: "completed", conclusion: "cancelled", steps: [] },
];

/** How GitHub shows the job of an attempt whose runner was lost. */
const lost = [
  { status: "in_progress", conclusion: null },
  { status: "completed", conclusion: "cancelled" },
  { status: "completed", conclusion: "failure" },
].map((step) => ({
  status: "completed",
  conclusion: "failure",
  steps: [checkout, { ...own, ...step, started_at: startedAt }],
}));

const running = {
  status: "in_progress",
  conclusion: null,
  steps: [checkout, { ...own, status: "in_progress", conclusion: null, started_at: startedAt }],
};

/** GitHub's record of the attempts of a workflow run: "List jobs for a workflow run attempt". */
export class GitHubRecord {
  readonly #attempts: object[] = [];
  readonly #random: Random;
  readonly #isReadable: boolean;
  /** Whether the token may write to the thread. */
  readonly #isThreadWritable: boolean;

  constructor(random: Random, { isReadable, isThreadWritable }: { isReadable: boolean; isThreadWritable: boolean }) {
    this.#random = random;
    this.#isReadable = isReadable;
    this.#isThreadWritable = isThreadWritable;
  }

  /** Adds the next attempt: those before it have ended. */
  add(state: "running" | "not started"): void {
    const last = this.#attempts.length - 1;
    if (this.#attempts[last] === running) this.#attempts[last] = this.#random.pick(lost);
    this.#attempts.push(state === "running" ? running : this.#random.pick(notStarted));
  }

  /** Answers what the stand-in of GitHub has no routes for, and what the token may not do. */
  readonly fault: GitHubFault = (route, _n, response) => {
    const attempt = /^GET .*\/actions\/runs\/99\/attempts\/(\d+)\/jobs$/.exec(route)?.[1];
    if (attempt !== undefined) {
      const job = this.#attempts[Number(attempt) - 1];
      if (!this.#isReadable || !job) return forbid(response);
      const isRunning = job === running;
      const listed = { name: "docs", runner_name: isRunning ? runnerName : "another-runner", ...job };
      return answer(response, 200, { total_count: 1, jobs: [listed] });
    }
    if (/^GET .*\/pulls\/\d+$/.test(route)) return answer(response, 200, { state: "open", merged: false });
    const isWrite = /^(POST|PATCH) .*\/(comments|reactions)/.test(route);
    return isWrite && !this.#isThreadWritable ? forbid(response) : false;
  };
}

function forbid(response: ServerResponse): true {
  return answer(response, 403, { message: "Resource not accessible by integration" });
}

function answer(response: ServerResponse, status: number, body: object): true {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  return true;
}
