import { onTestFinished } from "vitest";
import { thisMachine } from "../../src/machine.ts";
import { GitHubGates } from "../../src/pulls/github/gate.ts";
import { GitHubPullRequests } from "../../src/pulls/github.ts";
import { type PullRequestServer, startPullRequestServer } from "./pull-request-server.ts";

/** A change of a job that has no pull request yet. */
export const change = {
  jobId: "job_1",
  title: "T",
  prompt: "P",
  answer: null,
  branch: "agent/job_1",
  targetBranch: "main",
  base: "a",
  head: "b",
  existing: null,
};

export const token = "token_0123456789";

/** The service's pull requests on a fake GitHub. */
export interface FakeGitHubPullRequests {
  server: PullRequestServer;
  pulls: GitHubPullRequests;
  log: string[];
  stop: AbortController;
  /** The clock of the rounds, in milliseconds. */
  clock: { now: number };
}

export interface FakeGitHubOptions {
  /** How long a second of waiting takes, in milliseconds. Default: 1. */
  secondMs?: number;
  /** The owner and name that the service is configured with. Default: `acme/docs`. */
  configured?: string;
}

/** Starts a fake GitHub until the end of the test, and the service's pull requests on it. */
export async function startGitHubPullRequests(options: FakeGitHubOptions = {}): Promise<FakeGitHubPullRequests> {
  const { secondMs = 1, configured = "acme/docs" } = options;
  const server = await startPullRequestServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const [owner = "", name = ""] = configured.split("/");
  const log: string[] = [];
  const stop = new AbortController();
  const clock = { now: 1_000_000 };
  const passTime = async (ms: number): Promise<void> => {
    clock.now += ms;
  };
  const pulls = new GitHubPullRequests({
    repository: { apiUrl: server.url, owner, name, token },
    signal: stop.signal,
    log: (line) => void log.push(line),
    machine: { ...thisMachine, now: () => clock.now },
    secondMs,
    // A longer second is waited for.
    gates: secondMs > 1 ? undefined : new GitHubGates({ machine: { now: () => clock.now, sleep: passTime } }),
  });
  return { server, pulls, log, stop, clock };
}

export const isPost = (request: string) => request.startsWith("POST");

/** Returns how many pull requests the service tried to create. */
export const posts = ({ requests }: PullRequestServer) => requests.filter(isPost).length;

/** A pull request as the service knows it. */
export const ref = (link: string) => ({ link, branch: "agent/x", head: "b" });
