import type { GitHub, RequestLimits } from "../../src/action/runner/github.ts";
import { GitHubError } from "../../src/action/runner/github-error.ts";
import { bot, FakeGitHub } from "../support/fake-github.ts";
import { ownStep } from "../support/thread.ts";
import type { SimulatedProcess } from "./process.ts";
import type { Conversation, GitHubExchange, Kill } from "./scenario.ts";
import { existingJobId } from "./service.ts";
import { order, type Timeline } from "./timeline.ts";

/** The comment or review of the events in `events/`, and its thread. */
const commentId = 77;
const rootId = 70;

/** Between two writes that are not urgent, in milliseconds: the pause that GitHub asks for and the real client makes. */
const writePauseMs = 1000;

/** Creates a GitHub whose thread is as the scenario says. */
export function simulatedThread({
  event,
  remembersJob,
  otherComments,
  maxPerPage,
  hasForgedMarker,
}: Conversation): FakeGitHub {
  const github = new FakeGitHub();
  github.maxPerPage = maxPerPage;
  const root = event === "pull_request_review_comment" ? rootId : undefined;
  github.reviews.set(commentId, { body: "/agent new fix it", comments: [] });
  const stranger = { id: 666, login: "someone" };
  for (let count = 0; count < otherComments; count++) github.add(stranger, "Me too.", root);
  if (remembersJob) github.add(bot, marker(existingJobId, 1), root);
  if (hasForgedMarker) github.add(stranger, marker("job_forged", commentId), root);
  return github;
}

/** Returns whether the thread remembers what an earlier attempt sent, or was about to send, for the comment. */
export function isRemembered(thread: FakeGitHub): boolean {
  return thread.comments.some(
    ({ user, body }) => user.id === bot.id && / (comment|review)=77 step=[0-9a-f]+ -->$/.test(body),
  );
}

function marker(job: string, comment: number): string {
  return `Done.\n\n<!-- agent-job-action project=docs attempt=1 job=${job} comment=${comment} ${ownStep} -->`;
}

export interface GitHubPorts {
  timeline: Timeline;
  process: SimulatedProcess;
  /** What GitHub returns without a fault. */
  backend: Pick<FakeGitHub, "hasNextPage"> & {
    request: (...parameters: Parameters<GitHub["request"]>) => Promise<unknown>;
  };
  /** Returns the fate of a request. */
  exchange: (index: number) => GitHubExchange;
  /** Called with the text of every reply that is sent. */
  onReply: (body: string) => void;
  onMoment: (index: number, moment: Extract<Kill, { kind: "request" }>["moment"]) => void;
}

/** One request of the action to GitHub. Times of the timeline. */
export interface GitHubRequest {
  route: string;
  parameters: Record<string, unknown>;
  sentAt: number;
  /** When the action learned what came of it. */
  settledAt?: number;
  /** What it received; `undefined` if the request failed. */
  data?: unknown;
}

/** Creates the port to the simulated GitHub. It keeps the real client's limits, and its pauses between writes. */
export function simulatedGitHub(ports: GitHubPorts): { github: GitHub; requests: GitHubRequest[] } {
  const { timeline, process, backend, onMoment, onReply } = ports;
  const requests: GitHubRequest[] = [];
  let sent = 0;
  let nextWriteAt = 0;

  function request(route: string, parameters: Record<string, unknown>, limits: RequestLimits): Promise<unknown> {
    const entry: GitHubRequest = { route, parameters, sentAt: timeline.now };
    requests.push(entry);
    return new Promise((resolve, reject) => {
      let isSettled = false;
      const settle = (run: () => void): void => {
        if (isSettled) return;
        isSettled = true;
        entry.settledAt = timeline.now;
        limits.signal.removeEventListener("abort", onAbort);
        run();
      };
      const expire = (reason: string): void => settle(() => reject(new Error(reason)));
      const onAbort = (): void =>
        void process.after(limits.graceMs ?? 0, order.timer, () => expire("the step was cancelled"));
      process.after(limits.timeoutMs, order.timer, () => expire("GitHub did not respond in time"));
      if (limits.signal.aborted) onAbort();
      else limits.signal.addEventListener("abort", onAbort, { once: true });

      const send = (): void => {
        if (isSettled) return;
        const index = sent++;
        const { fault, requestMs, responseMs } = ports.exchange(index);
        if (typeof parameters.body === "string") onReply(parameters.body);
        onMoment(index, "sent");
        const answer = (run: () => void): void =>
          void process.after(responseMs, order.read, () =>
            settle(() => {
              onMoment(index, "answered");
              run();
            }),
          );
        timeline.at(timeline.now + requestMs, order.read, () => {
          if (fault === "lost-request") return;
          if (fault === "rejected")
            return answer(() => reject(new GitHubError("Resource not accessible by integration", 403)));
          let status = 200;
          const onStatus = (acted: number): void => {
            status = acted;
          };
          void backend.request(route, parameters, { ...limits, onStatus, signal: new AbortController().signal }).then(
            (data) => {
              onMoment(index, "acted");
              const received = fault === "unusable-response" ? "?" : data;
              if (fault === "lost-response") return;
              answer(() => {
                entry.data = received;
                limits.onStatus?.(status);
                resolve(received);
              });
            },
            (error: unknown) => answer(() => reject(error)),
          );
        });
      };

      const isPaused = !route.startsWith("GET ") && !limits.isUrgent && !limits.signal.aborted;
      const sendAt = isPaused ? Math.max(timeline.now, nextWriteAt) : timeline.now;
      if (isPaused) nextWriteAt = sendAt + writePauseMs;
      process.after(sendAt - timeline.now, order.timer, send);
    });
  }

  const github: GitHub = {
    request,
    async paginate(route, parameters, limits) {
      const deadline = timeline.now + limits.totalTimeoutMs;
      const items: unknown[] = [];
      for (let page = 1; ; page++) {
        const timeoutMs = Math.min(limits.timeoutMs, deadline - timeline.now);
        const data = await request(route, { ...parameters, per_page: 100, page }, { ...limits, timeoutMs });
        if (!Array.isArray(data)) throw new Error("GitHub's response is not a list");
        items.push(...data);
        if (!backend.hasNextPage(page, 100)) return items;
      }
    },
  };
  return { github, requests };
}
