import type { ChildProcess } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type CacheEntry,
  type CacheService,
  type RunAccess,
  startCacheService,
} from "../../../test/support/cache-service.ts";
import { commentEnvironment, commentInputs } from "../../../test/support/payload.ts";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { runStep, type StepResult } from "../../../tools/runner.ts";
import { letBegunPass } from "../support/begun-refs.ts";
import { type AgentRun, agentCommand, check, idsIn, modelKey, scriptOf } from "./agent.ts";
import { HistoryGitHub, owner, type Pull, token } from "./github.ts";
import { People } from "./people.ts";
import type { Act, AttemptPlan, Fate, Fault, Moment, Plan } from "./plan.ts";

/** What GitHub had at a moment. */
export interface Snapshot {
  pulls: readonly Pull[];
  /**
   * The ids of agents whose pages can be reached from branches and pull requests, and from refs of completed work. Unfinished work is kept for
   * the next agent, or for people.
   */
  published: ReadonlySet<string>;
  kept: ReadonlySet<string>;
}

/** An attempt that was run. */
export interface AttemptRun extends StepResult {
  /** As `RUN/ATTEMPT`. */
  name: string;
  run: number;
  plan: AttemptPlan;
  access: RunAccess;
  /** Whether it is one of those that end the history, in which nothing happens. */
  isHealthy: boolean;
  /** The commit of the run. */
  sha: string;
  /** Whether it was cancelled, and whether a process of it was killed. */
  isCancelled: boolean;
  isKilled: boolean;
  /** Whether it did not end, and was ended by the test. */
  isHung: boolean;
  before: Snapshot;
  after: Snapshot;
  /** What it left in `RUNNER_TEMP`, and the processes that it left. */
  left: readonly string[];
  survivors: readonly string[];
  /** Its requests, and the starts and ends of its agents between them. */
  requests: readonly string[];
  /** The requests that did not get their answers. */
  faulted: readonly string[];
  /** How many commits of turns it has saved in the cache. */
  cached: number;
}

/** Everything that the judge knows of a history. */
export interface History {
  plan: Plan;
  attempts: readonly AttemptRun[];
  agents: readonly AgentRun[];
  /** What people did. */
  acts: readonly { act: Act; in: string }[];
  github: HistoryGitHub;
  hasReopened: boolean;
  entries: readonly CacheEntry[];
  runtimeToken: string;
  dispose(): Promise<void>;
}

/** In milliseconds. Steps have a minute, and a cancelled one ten seconds. */
const hungMs = 150_000;
/** How long processes may outlive a step that has ended, and one whose main process was killed. */
const outliveMs = { ended: 1000, killed: 10_000 };

/** Whether an attempt has ended well. */
export const isSuccess = ({ exitCode, outputs }: Pick<StepResult, "exitCode" | "outputs">): boolean =>
  exitCode === 0 && ["pr-created", "no-changes", "skipped"].includes(outputs.outcome ?? "");

/** What happens to an attempt. */
interface Events {
  act?: (() => void) | undefined;
  stop?: () => void;
  beside?: () => void;
}

/** What is run for one attempt, and what happens to it. */
class Stage {
  readonly plan: AttemptPlan;
  readonly run: Run;
  readonly name: string;
  readonly requests: string[] = [];
  readonly faulted: string[] = [];
  isCancelled = false;
  isKilled = false;
  #isDone = false;
  readonly #faults: Fault[];
  readonly #events: Events;
  readonly #counts = new Map<Moment, number>();

  constructor(plan: AttemptPlan, run: Run, events: Events = {}) {
    this.plan = plan;
    this.run = run;
    this.name = `${run.number}/${run.attempts}`;
    this.#events = events;
    this.#faults = structuredClone(plan.faults ?? []);
  }

  /** Lets begin what happens at a moment. */
  reach(on: Moment["on"], request = ""): void {
    if (this.#isDone) return;
    if (on !== "after") this.requests.push(request || on);
    const { during, stop, beside } = this.plan;
    for (const [moment, event] of [
      [during?.at, this.#events.act],
      [beside?.at, this.#events.beside],
      [stop?.at, this.#events.stop],
    ] as const)
      if (moment && event && this.#isAt(moment, on, request)) this.#soon(moment, event);
    if (on === "agent started" || on === "agent ended")
      for (const fault of this.#faults) if (fault.from === on) delete fault.from;
  }

  done(): void {
    this.#isDone = true;
  }

  #soon({ delayMs = 0 }: Moment, what: () => void): void {
    if (delayMs === 0) what();
    else setTimeout(() => this.#isDone || what(), delayMs).unref();
  }

  #isAt(moment: Moment, on: Moment["on"], request: string): boolean {
    const { match = "", skip = 0 } = moment;
    if (moment.on !== on || !new RegExp(match).test(request)) return false;
    const count = (this.#counts.get(moment) ?? 0) + 1;
    this.#counts.set(moment, count);
    return count === skip + 1;
  }

  fateOf(request: string): Fate {
    for (const fault of this.#faults) {
      if (fault.from !== undefined || fault.times === 0 || !new RegExp(fault.match).test(request)) continue;
      if (fault.skip-- > 0) continue;
      fault.times--;
      this.faulted.push(`${fault.fate}: ${request}`);
      return fault.fate;
    }
    return "answered";
  }
}

/** A run of the workflow. */
interface Run {
  number: number;
  sha: string;
  prompt: string;
  /** The id of its comment. */
  comment: number | undefined;
  attempts: number;
}

/** Plays a history with the built action and the built process of its agent. */
export async function playHistory(plan: Plan): Promise<History> {
  const player = await Player.start(plan);
  try {
    await player.play();
    return player.history();
  } catch (error) {
    await player.dispose();
    throw error;
  }
}

class Player {
  readonly #plan: Plan;
  readonly #root = mkdtempSync(join(tmpdir(), "histories-"));
  readonly #docs: DocsRepository;
  readonly #github: HistoryGitHub;
  readonly #people: People;
  readonly #entries: CacheEntry[] = [];
  readonly #caches = new Map<RunAccess, CacheService>();
  readonly #attempts: AttemptRun[] = [];
  readonly #agents: AgentRun[] = [];
  readonly #acts: { act: Act; in: string }[] = [];
  readonly #runs: Run[] = [];
  /** The attempt that is run, and the one beside it. */
  #stage: Stage | undefined;
  #besideStage: Stage | undefined;

  constructor(plan: Plan, docs: DocsRepository, github: HistoryGitHub) {
    this.#plan = plan;
    this.#docs = docs;
    this.#github = github;
    this.#people = new People(github);
    github.isPrivate = plan.isPrivate === true;
  }

  static async start(plan: Plan): Promise<Player> {
    const docs = new DocsRepository();
    // The port of the step's service depends on the repository's name.
    return new Player(plan, docs, await HistoryGitHub.start(docs, `docs-${process.pid}-${++histories}`));
  }

  async dispose(): Promise<void> {
    killProcesses(this.#root);
    for (const cache of this.#caches.values()) await cache[Symbol.asyncDispose]();
    await this.#github[Symbol.asyncDispose]();
    this.#docs[Symbol.dispose]();
    rmSync(this.#root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }

  history(): History {
    return {
      plan: this.#plan,
      attempts: this.#attempts,
      agents: this.#agents,
      acts: this.#acts,
      github: this.#github,
      hasReopened: this.#people.hasReopened,
      entries: this.#entries,
      runtimeToken: this.#caches.values().next().value?.environment.ACTIONS_RUNTIME_TOKEN ?? "",
      dispose: () => this.dispose(),
    };
  }

  async play(): Promise<void> {
    const { mode, runs, isFirstRepeated } = this.#plan;
    const attempt = async (run: Run, attempted: AttemptPlan, isHealthy = false): Promise<boolean> =>
      isSuccess(await this.#attempt(run, attempted, isHealthy));
    for (const { attempts, isRepeated } of runs) {
      const run = this.#newRun();
      for (const one of attempts) if ((await attempt(run, one)) && !isRepeated) break;
    }
    const began = this.#runs.slice();
    const [first] = began;
    if (isFirstRepeated && first) await attempt(first, { agent: "page" });
    // The end of a history is healthy.
    if (mode !== "session")
      for (const run of began) {
        const last = this.#attempts.findLast((one) => one.run === run.number);
        let isDone = last !== undefined && isSuccess(last);
        for (let n = 0; n < 2 && !isDone; n++) isDone = await attempt(run, { agent: "page" }, true);
      }
    let isDone = mode === "plain";
    for (let n = 0; n < 2 && !isDone; n++) {
      if (this.#plan.hasChanges) this.#act("push to main", "the end");
      isDone = await attempt(this.#newRun(), { agent: "page" }, true);
    }
  }

  #newRun(): Run {
    const number = this.#runs.length + 1;
    const task = this.#plan.hasSamePrompt ? "TASK-same" : `TASK-r${number}`;
    const run = {
      number,
      sha: this.#docs.head("main"),
      prompt: `${task} Bring the docs in line.`,
      comment: undefined,
      attempts: 0,
    };
    this.#runs.push(run);
    return run;
  }

  #act(act: Act | undefined, where: string): void {
    if (act && this.#people.do(act)) this.#acts.push({ act, in: where });
  }

  async #attempt(run: Run, plan: AttemptPlan, isHealthy: boolean): Promise<AttemptRun> {
    run.attempts++;
    let child: ChildProcess | undefined;
    let beside: Promise<AttemptRun> | undefined;
    const stage = new Stage(plan, run, {
      act: plan.during && (() => this.#act(plan.during?.act, stage.name)),
      stop: () => child && this.#stop(stage, child),
      beside: () => {
        const other = this.#newRun();
        other.attempts = 1;
        const { agent = "page" } = plan.beside ?? {};
        this.#besideStage = new Stage({ agent, ...(plan.cache && { cache: plan.cache }) }, other);
        beside = this.#run(this.#besideStage, "_temp-beside", false);
      },
    });
    this.#stage = stage;
    // Times of GitHub are in seconds.
    if (plan.before) await sleep(1100);
    for (const act of plan.before ?? []) this.#act(act, `before ${stage.name}`);
    if (plan.before) await sleep(1100);
    if (plan.isEvicted) this.#entries.length = 0;
    if (run.attempts === 1) {
      run.sha = this.#docs.head("main");
      // Nobody works any more: a runner was lost long ago.
      letBegunPass(this.#docs);
    }
    setRule(this.#docs, this.#plan.refusesRefs === true, plan.rule);
    this.#github.hasNoPulls = plan.hasNoPulls === true;
    this.#github.witness = {
      before: (request) => {
        stage.reach("before", request);
        return stage.isKilled ? "dropped" : stage.fateOf(request);
      },
      after: (request) => {
        stage.reach("after", request);
        return stage.isKilled ? "lost" : "answered";
      },
      agent: (url, body) => this.#answerAgent(url, body),
    };
    const ran = await this.#run(stage, "_temp", isHealthy, (started) => {
      child = started;
      stage.reach("time");
    });
    stage.done();
    setRule(this.#docs, this.#plan.refusesRefs === true);
    this.#github.hasNoPulls = false;
    this.#stage = undefined;
    if (beside) await beside;
    this.#besideStage = undefined;
    const limitMs = outliveMs[stage.isKilled ? "killed" : "ended"];
    const until = performance.now() + limitMs;
    while (processesOf(this.#root).length > 0 && performance.now() < until) await sleep(50);
    ran.survivors = processesOf(this.#root).map(describeProcess);
    killProcesses(this.#root);
    // What the one beside it did is not its own.
    if (!beside) ran.after = this.#look();
    return ran;
  }

  async #run(
    stage: Stage,
    temp: string,
    isHealthy: boolean,
    onStart: (child: ChildProcess) => void = () => {},
  ): Promise<AttemptRun> {
    const { run } = stage;
    const place = this.#attempts.length;
    const before = this.#look();
    const cachedBefore = this.#cached();
    const access = stage.plan.cache ?? this.#plan.cache;
    const folder = mkdtempSync(join(this.#root, "run-"));
    const runnerTemp = join(this.#root, temp);
    rmSync(runnerTemp, { recursive: true, force: true });
    mkdirSync(runnerTemp);
    const environment = {
      ...(await this.#cache(access)).environment,
      ...this.#environment(run, folder),
      HOME: folder,
      RUNNER_TEMP: runnerTemp,
    };
    let isHung = false;
    let guard: NodeJS.Timeout | undefined;
    const attempt: AttemptRun = {
      exitCode: null,
      outputs: {},
      summary: "",
      log: "",
      files: { output: "", summary: "" },
      left: [],
      name: stage.name,
      run: run.number,
      plan: stage.plan,
      access,
      isHealthy,
      sha: run.sha,
      isCancelled: false,
      isKilled: false,
      isHung: false,
      before,
      after: before,
      survivors: [],
      requests: stage.requests,
      faulted: stage.faulted,
      cached: 0,
    };
    this.#attempts[place] = attempt;
    const ran = await runStep({
      inputs: this.#inputs(run),
      folder,
      environment,
      onStart: (child) => {
        guard = setTimeout(() => {
          isHung = true;
          killProcesses(this.#root);
        }, hungMs);
        onStart(child);
      },
    });
    clearTimeout(guard);
    const { exitCode, outputs, summary, log } = ran;
    const { isCancelled, isKilled } = stage;
    const files = existsSync(runnerTemp) ? readdirSync(runnerTemp) : [];
    const given = [outputs["log-file"], outputs["work-file"]].map((file) => file?.split("/").at(-1));
    return Object.assign(attempt, {
      ...{ exitCode, outputs, summary, log, isCancelled, isKilled, isHung },
      left: files.filter((file) => !given.includes(file)),
      cached: this.#cached() - cachedBefore,
      after: this.#look(),
    });
  }

  #cached(): number {
    return this.#entries.filter(({ key, isCommitted }) => isCommitted && key.includes("commit")).length;
  }

  #inputs({ prompt }: Run): Record<string, string> {
    const { mode, hasCheck, hasChanges, hasOnly, hasModelKey, runs } = this.#plan;
    const isShort = runs.some(({ attempts }) => attempts.some(({ agent }) => agent === "overtime"));
    const options = [
      `--sandbox ${hasCheck ? "bwrap" : "none"}`,
      "--agent-network full",
      ...(isShort ? ["--time-limit-minutes 0.2"] : []),
      ...(hasOnly ? ["--only docs/**"] : []),
      ...(hasModelKey ? ["--agent-env MODEL_KEY"] : []),
    ];
    return {
      agent: agentCommand(this.#github.url),
      "agent-options": options.join("\n"),
      "poll-interval-seconds": "0.1",
      "max-poll-interval-seconds": "0.3",
      "timeout-minutes": "1",
      ...(mode === "comment" ? commentInputs : { prompt }),
      ...(mode === "session" && { session: "nightly" }),
      ...(hasChanges && { changes: "list" }),
      ...(hasCheck && { check }),
      "github-token": token,
      "workflow-token": token,
    };
  }

  /** Returns what the runner sets for a run, and writes its event. */
  #environment(run: Run, folder: string): Record<string, string> {
    const { url, name, thread, isPrivate } = this.#github;
    const event = join(folder, "event.json");
    const repository = { id: 7, name, full_name: `${owner}/${name}`, owner: { login: owner }, private: isPrivate };
    let ofEvent: Record<string, string> = { GITHUB_EVENT_NAME: "schedule", GITHUB_EVENT_PATH: event };
    if (this.#plan.mode === "comment") {
      const text = `/agent ${run.prompt}`;
      run.comment ??= this.#github.comment(text);
      const comment = { id: run.comment, text, author: { login: "writer" }, number: thread, owner, repo: name };
      ofEvent = commentEnvironment(folder, url, comment);
    }
    const payload = existsSync(event) ? JSON.parse(readFileSync(event, "utf8")) : {};
    writeFileSync(event, JSON.stringify({ ...payload, repository: { ...payload.repository, ...repository } }));
    return {
      ...ofEvent,
      GITHUB_SERVER_URL: url,
      GITHUB_API_URL: url,
      GITHUB_REPOSITORY: `${owner}/${name}`,
      GITHUB_REPOSITORY_ID: "7",
      GITHUB_WORKFLOW_REF: `${owner}/${name}/.github/workflows/agent.yml@refs/heads/main`,
      GITHUB_REF: "refs/heads/main",
      GITHUB_SHA: run.sha,
      GITHUB_RUN_ID: String(100 + run.number),
      GITHUB_RUN_ATTEMPT: String(run.attempts),
      GITHUB_JOB: "docs",
      GITHUB_ACTION: "agent",
      MODEL_KEY: modelKey,
    };
  }

  async #cache(access: RunAccess): Promise<CacheService> {
    const known = this.#caches.get(access);
    if (known) return known;
    const fault = (kind: string, _n: number, response: ServerResponse): boolean => {
      const { before, after } = this.#github.witness;
      const fate = before(`cache ${kind}`);
      if (fate === "hangs") setTimeout(() => response.destroy(), 8000).unref();
      else if (fate === "dropped") response.destroy();
      else if (fate === "answered" || fate === "lost") {
        const end = response.end.bind(response) as (...given: unknown[]) => ServerResponse;
        response.end = ((...given: unknown[]) =>
          after(`cache ${kind}`) === "lost" || fate === "lost"
            ? response.destroy()
            : end(...given)) as typeof response.end;
        return false;
      } else response.writeHead(fate === "502" ? 502 : 403, { "content-type": "application/json" }).end("{}");
      return true;
    };
    const cache = await startCacheService("v1", { access, fault, entries: this.#entries });
    this.#caches.set(access, cache);
    return cache;
  }

  #answerAgent(url: URL, body: string): string {
    if (url.pathname === "/agent/completed") {
      const agent = this.#agents.find(({ id }) => id === url.searchParams.get("id"));
      if (agent) agent.isCompleted = true;
      if (agent?.attempt === this.#stage?.name) this.#stage?.reach("agent ended");
      return "";
    }
    const isBeside = url.searchParams.get("at")?.includes("_temp-beside") ?? false;
    const stage = isBeside ? this.#besideStage : this.#stage;
    if (!stage) throw new Error("an agent outside of an attempt");
    const id = `u${this.#agents.length + 1}`;
    const [prompt = "", found = ""] = body.split("\n=== found\n");
    const isSecondGo = prompt.includes("The check of your change failed");
    const { published, kept } = this.#look();
    const others = isBeside ? this.#stage : this.#besideStage;
    const isWorking = (one: AgentRun): boolean =>
      one.attempt === others?.name && !one.isCompleted && one.kind !== "fails";
    this.#agents.push({
      other: this.#agents.find(isWorking)?.id,
      ...{ id, kind: stage.plan.agent, attempt: stage.name, run: stage.run.number, isSecondGo, found, published, kept },
      job: url.searchParams.get("job") ?? "",
      task: /TASK-\w+/.exec(prompt)?.[0] ?? "",
      isCompleted: false,
    });
    if (!isBeside) stage.reach("agent started");
    return scriptOf(stage.plan.agent, id, isSecondGo, this.#github.url);
  }

  #stop(stage: Stage, child: ChildProcess): void {
    const how = stage.plan.stop?.how;
    if (stage.isCancelled || stage.isKilled) return;
    if (how === "cancel") {
      stage.isCancelled = true;
      child.kill("SIGINT");
      const later = [setTimeout(() => child.kill("SIGTERM"), 7500), setTimeout(() => child.kill("SIGKILL"), 10_000)];
      child.once("exit", () => later.forEach(clearTimeout));
    } else {
      stage.isKilled = true;
      child.kill("SIGKILL");
      if (how === "kill all") killProcesses(this.#root);
    }
  }

  #look(): Snapshot {
    const pages = this.#docs.git(
      ...["log", "--branches", "--glob=refs/pull", "--format=", "--name-only", "--diff-filter=AM"],
    );
    return {
      pulls: this.#github.pulls.map((pull) => ({ ...pull })),
      published: new Set(idsIn(pages)),
      kept: new Set(idsIn(textsOfRefs(this.#docs, "*/*/made").join("\n"))),
    };
  }
}

let histories = 0;

/** Returns the texts of the refs of kept work that match a pattern. */
export function textsOfRefs(docs: DocsRepository, pattern = "**"): string[] {
  const refs = docs.git("for-each-ref", "--format=%(objectname)", `refs/agent-work/${pattern}`);
  return refs === "" ? [] : refs.split("\n").map((ref) => docs.git("log", "-1", "--format=%B", "-p", "--text", ref));
}

/** Lets the repository reject pushes. */
function setRule(docs: DocsRepository, refusesRefs: boolean, rule?: AttemptPlan["rule"]): void {
  const hook = join(docs.path, "hooks/pre-receive");
  rmSync(hook, { force: true });
  if (!refusesRefs && !rule) return;
  const reason =
    rule === "finds a secret" ? "Push cannot contain secrets" : "Changes must be made through a pull request.";
  const script = `#!/bin/sh
while read -r before after ref; do
  case $after in *[!0]*) ;; *) continue ;; esac
  case $ref in
    refs/agent-work/*) ${refusesRefs ? "" : "continue"} ;;
    refs/heads/agent/*) ${rule ? 'git merge-base --is-ancestor "$after" main && continue' : "continue"} ;;
    *) continue ;;
  esac
  echo "error: GH013: Repository rule violations found for $ref." >&2
  echo "- ${reason}" >&2
  exit 1
done
`;
  writeFileSync(hook, script, { mode: 0o755 });
}

/** Returns the ids of the processes that have something of a folder: those of a runner. Linux only. */
function processesOf(folder: string): number[] {
  return readdirSync("/proc")
    .filter((id) => /^\d+$/.test(id) && Number(id) !== process.pid)
    .filter((id) => {
      try {
        const of = (file: string): string => readFileSync(`/proc/${id}/${file}`, "latin1");
        if (/\) [ZX] /.test(of("stat"))) return false;
        return [of("cmdline"), of("environ"), readlinkSync(`/proc/${id}/cwd`)].some((text) => text.includes(folder));
      } catch {
        return false;
      }
    })
    .map(Number);
}

function describeProcess(id: number): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "latin1").replaceAll("\0", " ").slice(0, 100);
  } catch {
    return "";
  }
}

function killProcesses(folder: string): void {
  // One that starts another meanwhile is found the next time.
  for (let n = 0; n < 3; n++)
    for (const id of processesOf(folder)) {
      try {
        process.kill(id, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
}
