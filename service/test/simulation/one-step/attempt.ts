// The action loads these on demand. Loaded before, that takes no real time, for which simulated time does not wait.
import "../../../../src/action/memory/parse-entry.ts";
import "../../../../src/action/memory/pull-request-state.ts";
import "../../../../src/action/memory/step-record.ts";
import "../../../../src/action/send-once.ts";
import { main, type Ports } from "../../../../src/action/main.ts";
import type { OwnAgent } from "../../../../src/action/own-agent.ts";
import { AgentError } from "../../../../src/action/result.ts";
import type { GitHub } from "../../../../src/action/runner/github.ts";
import type { AgentSettings } from "../../../../src/runner-kit/agent-service.ts";
import { say } from "../../../../src/runner-kit/text.ts";
import { type HttpRequest, type HttpResponse, NetworkError } from "../../../../src/runner-kit/transport.ts";
import { order } from "../../../../test/simulation/timeline.ts";
import { FakeToolkit } from "../../../../test/support/fake-toolkit.ts";
import type { AgentResult } from "../../../src/agents/run-agent.ts";
import type { TurnHost } from "../../../src/turns/turn-host.ts";
import { memoryHost } from "../../support/memory-host.ts";
import type { MemoryRepository } from "../../support/memory-repository.ts";
import { MachineProcess } from "../machine-process.ts";
import { doAct } from "./acts.ts";
import { owner } from "./github.ts";
import { type Call, type Calls, Link } from "./link.ts";
import type { AttemptPlan } from "./plan.ts";
import { StepService } from "./service.ts";
import { type AskingComment, isOfThread } from "./threads.ts";
import type { World } from "./world.ts";

/** A run of an agent, which somebody pays for. */
export interface AgentRun {
  /** In the name of its file. */
  id: string;
  attempt: Attempt;
  job: string;
  startedAt: number;
  /** `undefined`: its runner was lost. */
  end: AgentResult["end"] | undefined;
  /** Whether its worktree differs from what it got. */
  isChanging: boolean;
  prompt: string;
}

/** Where the attempts of a run stand. */
export interface Place {
  /** From 1. */
  run: number;
  number: number;
  /** What started the run; `undefined` for the schedule. */
  comment: AskingComment | undefined;
  /** The commit of `main` when the run began. */
  sha: string;
  /** Whether a person started it, with a prompt of their own. */
  isByHand: boolean;
}

/** After a signal, the runner kills what is left, in milliseconds. */
const killedAfterMs = 10_000;
/** How long a child has to end that nobody needs any more, in milliseconds. */
const [savesMs, cancelledMs, orphanMs] = [150_000, 4000, 5000];
/** How long an agent may work, in milliseconds. */
const timeLimitMs = 60_000;
const checkCommand = "check the change";

/** One attempt of a workflow run: the action and the service that it starts, on a runner of their own. */
export class Attempt implements Calls {
  readonly plan: AttemptPlan;
  readonly place: Place;
  readonly index: number;
  readonly toolkit: FakeToolkit;
  /** `crashed`: `main` threw; `killed`: its process was. */
  end: "passed" | "failed" | "crashed" | "killed" | undefined;
  /** How it was ended, if it was. */
  stopped: string | undefined;
  readonly startedAt: number;
  readonly log: string[] = [];
  isChecking = false;
  readonly #world: World;
  readonly #process: MachineProcess;
  readonly #link: Link;
  readonly #cancellation = new AbortController();
  #child: { process: MachineProcess; service: StepService; ended: PromiseWithResolvers<void> } | undefined;
  #calls = 0;
  /** The calls that a fault concerns. */
  readonly #counted = new Map<AttemptPlan["faults"][number], number>();
  #agents = 0;

  constructor(world: World, plan: AttemptPlan, place: Place, index: number) {
    this.#world = world;
    this.plan = plan;
    this.place = place;
    this.index = index;
    const { timeline } = world;
    this.startedAt = timeline.now;
    this.#process = this.#startProcess();
    this.#link = new Link(this.#process, this);
    this.toolkit = new FakeToolkit(this.#inputs());
  }

  /** Whether something threw that should not. */
  get hasInternalError(): boolean {
    return this.log.some((line) => /\b(?:Type|Reference|Range|Syntax)Error\b|datatype mismatch/.test(line));
  }

  /** The jobs of which the step has work in a file that is nowhere else. */
  get unkept(): ReadonlySet<string> {
    return new Set(this.#child?.service.report.unkeptWork.keys());
  }

  /** What its run shares a job with; `undefined` for a night without a session. */
  get session(): string | undefined {
    const { comment } = this.place;
    if (comment !== undefined) return comment.isNew ? undefined : `thread ${comment.number}`;
    return this.#world.plan.hasSession ? "nightly" : undefined;
  }

  /** Whether its prompt lists what people pushed. */
  get isToldChanges(): boolean {
    const { hasSession, hasChanges } = this.#world.plan;
    return hasSession && hasChanges && this.place.comment === undefined && !this.place.isByHand;
  }

  get outcome(): string {
    return this.toolkit.outputs.outcome ?? "";
  }

  #startProcess(): MachineProcess {
    const { timeline } = this.#world;
    return new MachineProcess({ timeline, onStep: () => {}, pauses: [], clockOffset: () => 0 });
  }

  /** Runs it. */
  start(): void {
    void main(this.#ports()).then(
      (hasPassed) => this.#ended(hasPassed ? "passed" : "failed"),
      (error: unknown) => {
        this.log.push(String(error instanceof Error ? error.stack : error));
        this.#ended("crashed");
      },
    );
  }

  #ended(end: NonNullable<Attempt["end"]>): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.#process.kill();
    // Nothing outlives the runner, but a child that nobody has told to end.
    if (end !== "killed") this.#killChild();
  }

  #killChild(): void {
    this.#child?.process.kill();
    this.#child?.ended.resolve();
  }

  /** Ends it, if it has not ended. */
  kill(): void {
    this.#ended("killed");
    this.#killChild();
  }

  /** Leaves what costs much to be made again to other attempts. */
  async leave(): Promise<void> {
    await this.#child?.service.leaveDatabase();
  }

  begin(call: Call): ReturnType<Calls["begin"]> {
    const number = this.#calls++;
    const { during, stop, faults, beside } = this.plan;
    const atMoment = (isAfter: boolean) => (): void => {
      for (const one of during) if (one.call === number && one.isAfter === isAfter) doAct(one.act, this.#world);
      if (stop?.call === number && stop.isAfter === isAfter) this.#stop(stop.how);
    };
    if (beside?.call === number && this.end === undefined) this.#world.startBeside(beside);
    atMoment(false)();
    let fate: ReturnType<Calls["begin"]>["fate"] = "works";
    for (const fault of faults) {
      if (fault.place !== call.place || (fault.isWrite !== undefined && fault.isWrite !== call.isWrite)) continue;
      const count = this.#counted.get(fault) ?? 0;
      this.#counted.set(fault, count + 1);
      if (count >= fault.from && count < fault.from + fault.count) fate = fault.fate;
    }
    return { fate, after: atMoment(true) };
  }

  #stop(how: NonNullable<AttemptPlan["stop"]>["how"]): void {
    if (this.end !== undefined) return;
    this.stopped = how;
    const { timeline } = this.#world;
    if (how === "kill") {
      this.kill();
      return;
    }
    if (how === "kill-child") {
      this.#child?.process.kill();
      this.#child?.ended.resolve();
      return;
    }
    if (how === "kill-action") {
      this.#ended("killed");
      void this.#endChild(orphanMs);
      timeline.at(timeline.now + orphanMs, order.timer, () => this.#killChild());
      return;
    }
    this.#cancellation.abort();
    timeline.at(timeline.now + killedAfterMs, order.timer, () => this.kill());
  }

  async #endChild(ms: number): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const { timeline } = this.#world;
    timeline.at(timeline.now + ms, order.timer, () => {
      child.process.kill();
      child.ended.resolve();
    });
    void child.service.end().then(() => {
      if (child.process.isAlive) child.ended.resolve();
    });
    await child.ended.promise;
  }

  #ports(): Ports {
    const { cache, draws } = this.#world;
    return {
      toolkit: this.toolkit,
      clock: this.#process,
      environment: this.#environment(),
      signal: this.#cancellation.signal,
      random: () => draws.next(),
      connect: () => () => Promise.reject(new Error("only its own service is asked")),
      createAgent: async (settings) => this.#ownAgent(settings),
      connectIdTokens: () => Promise.reject(new Error("its service has a key")),
      connectCache: async () => cache.ofAction(this.#link, this.plan.cache),
      connectGitHub: async () => this.#gitHub(),
    };
  }

  #gitHub(): GitHub {
    const { comment } = this.place;
    const request: GitHub["request"] = async (route, parameters, limits) =>
      this.#link.call(
        { place: "api", isWrite: !route.startsWith("GET ") },
        () =>
          comment !== undefined && isOfThread(route)
            ? comment.thread.request(route, parameters, { ...limits, signal: new AbortController().signal })
            : structuredClone(this.#world.gitHub.request(route, parameters)),
        () => new Error("GitHub did not respond"),
      );
    const paginate: GitHub["paginate"] = async (route, parameters, limits) =>
      (await request(route, { ...parameters, page: 1, per_page: 100 }, limits)) as unknown[];
    return { request, paginate };
  }

  #inputs(): Record<string, string> {
    const { hasSession, hasChanges, isSamePrompt } = this.#world.plan;
    const { comment, isByHand, run } = this.place;
    if (comment !== undefined)
      return {
        agent: "agent run",
        prompt: "",
        "trigger-phrase": "/agent",
        "github-token": "ghs_simulated_0123456789",
        ...(hasChanges && { changes: "list", "changes-since": comment.since }),
      };
    const ofNight = isSamePrompt ? "Update the docs" : `Update the docs, night ${run}`;
    return {
      agent: "agent run",
      prompt: isByHand ? `Fix the page of request ${run}` : ofNight,
      "github-token": "ghs_simulated_0123456789",
      "on-rerun": this.plan.onRerun,
      ...(hasSession && { session: "nightly" }),
      ...(this.isToldChanges && { changes: "list" }),
    };
  }

  #environment(): Record<string, string> {
    const { cache } = this.plan;
    const { comment, isByHand } = this.place;
    return {
      RUNNER_OS: "Linux",
      GITHUB_EVENT_NAME: comment !== undefined ? "issue_comment" : isByHand ? "workflow_dispatch" : "schedule",
      ...(comment !== undefined && { GITHUB_EVENT_PATH: comment.file }),
      GITHUB_REPOSITORY: `${owner}/${this.#world.gitHub.name}`,
      GITHUB_REPOSITORY_ID: "7",
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_API_URL: "https://api.github.com",
      GITHUB_RUN_ID: String(this.place.run),
      GITHUB_RUN_ATTEMPT: String(this.place.number),
      GITHUB_JOB: "docs",
      GITHUB_ACTION: "__acme_action",
      GITHUB_SHA: this.place.sha,
      RUNNER_NAME: `runner ${this.index}`,
      ...(cache !== "absent" && {
        ACTIONS_CACHE_URL: "http://localhost/",
        ...((cache === "read" || cache === "none") && { ACTIONS_CACHE_MODE: cache }),
      }),
    };
  }

  #ownAgent({ projectId, apiKey }: AgentSettings): OwnAgent {
    const { gitHub, cache, plan, folder } = this.#world;
    const start = () => {
      const process = this.#startProcess();
      const link = new Link(process, this);
      const service = new StepService({
        link,
        gitHub,
        cache,
        cacheMode: this.plan.cache,
        isPrivate: plan.isPrivate,
        isFirstAttempt: this.place.number === 1,
        number: this.index,
        projectId,
        apiKey,
        timeLimitMs,
        check: this.plan.agent.checkMs > 0 ? checkCommand : undefined,
        folder,
        hostOf: (repository) => this.#host(repository, link),
        log: (line) => void this.log.push(line),
      });
      this.#child = { process, service, ended: Promise.withResolvers<void>() };
      return this.#child;
    };
    const ended = (): AgentError => new AgentError("The agent's service ended early", say`It ended.`);
    const whileAlive = async <T>(use: Promise<T>, failure: () => Error): Promise<T> =>
      Promise.race([
        use,
        (this.#child ?? start()).ended.promise.then(() => {
          throw failure();
        }),
      ]);
    return {
      connect: () => async (request) => {
        const { process, service, ended: end } = this.#child ?? start();
        if (!process.isAlive) throw ended();
        await whileAlive(service.open(), ended);
        const failure = () => new NetworkError("the connection was closed", { phase: "waiting", reason: "network" });
        return this.#send(request, () => service.answer(request), end.promise.then(failure));
      },
      prepare: async () => {
        const { process, service } = this.#child ?? start();
        if (!process.isAlive) throw ended();
        await whileAlive(service.runAgents(), ended);
      },
      check: async () => {},
      end: async () => {
        const { signal } = this.#cancellation;
        if (this.#child === undefined || !this.#child.process.isAlive) return;
        signal.addEventListener("abort", () => void this.#endChild(cancelledMs + 1000));
        await this.#endChild(signal.aborted ? cancelledMs + 1000 : savesMs);
      },
    };
  }

  /** Sends a request over loopback. */
  #send(
    { signal, timeoutMs, graceMs = 0 }: HttpRequest,
    answer: () => Promise<HttpResponse>,
    broken: Promise<Error>,
  ): Promise<HttpResponse> {
    const fail = (reason: NetworkError["reason"]) => new NetworkError(`${reason}`, { phase: "waiting", reason });
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new NetworkError("aborted", { phase: "connecting", reason: "aborted" }));
      this.#process.after(timeoutMs, order.timer, () => reject(fail("timeout")));
      const onAbort = (): void => void this.#process.after(graceMs, order.timer, () => reject(fail("aborted")));
      signal.addEventListener("abort", onAbort, { once: true });
      void broken.then(reject);
      this.#process.ask(1, answer, 1).then(resolve, reject);
    });
  }

  #host(repository: MemoryRepository, link: Link): TurnHost {
    return {
      ...memoryHost,
      appendLog: (_file, text) => void this.log.push(text.trimEnd()),
      runAgent: async (agent, options) => {
        const { directories, logFile, jobId, signal, prompt } = options;
        const { args } = agent.command({ isFollowUp: false, isSandboxed: false });
        if (logFile === "/dev/null") {
          this.#layOut(repository, args, directories.tree);
          return { end: "completed", message: "laid\n", error: undefined };
        }
        if (args.at(-1) === checkCommand) {
          this.isChecking = true;
          await link.process.sleep(this.plan.agent.checkMs, signal);
          this.isChecking = false;
          return { end: signal.aborted ? "stopped" : "completed", message: undefined, error: undefined };
        }
        return link.call(
          { place: "agent", isWrite: true },
          () => this.#runAgent(repository, link, { tree: directories.tree, job: jobId, prompt, signal }),
          () => new Error("agents do not fail so"),
        );
      },
    };
  }

  /** Writes what an earlier turn left, as the script does that the service runs. */
  #layOut(repository: MemoryRepository, args: readonly string[], tree: string): void {
    const [, , , , source = "", ...paths] = args;
    const { objects } = this.#world.gitHub.remote;
    const files = objects.files(source);
    const textOf = (id: string | undefined) =>
      id === undefined ? null : Buffer.from(objects.content(id), "latin1").toString();
    repository.edit(tree, Object.fromEntries(paths.map((path) => [path, textOf(files.get(path))])));
  }

  async #runAgent(
    repository: MemoryRepository,
    { process }: Link,
    { tree, job, prompt, signal }: { tree: string; job: string; prompt: string; signal: AbortSignal },
  ): Promise<AgentResult> {
    const { timeline, runs } = this.#world;
    const { kind, ms } = this.plan.agent;
    const id = `${this.index}-${this.#agents++}`;
    const isChanging = kind !== "nothing" && kind !== "gives-up";
    const run: AgentRun = { id, attempt: this, job, startedAt: timeline.now, end: undefined, isChanging, prompt };
    this.#world.onAgent(run);
    runs.push(run);
    await process.sleep(ms / 2, signal);
    if (isChanging)
      repository.edit(tree, {
        [`work-${id}.md`]: `Work of ${id}\n`,
        ...(kind === "shared" && { "docs/shared.md": `The line of ${id}\n` }),
      });
    await process.sleep(ms / 2, signal);
    const end = signal.aborted
      ? "stopped"
      : kind === "times-out"
        ? "timed-out"
        : kind === "fails" || kind === "gives-up"
          ? "failed"
          : "completed";
    run.end = end;
    return { end, message: `Did ${id}.`, error: end === "failed" ? "It did not work." : undefined };
  }
}
