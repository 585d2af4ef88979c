import { gunzipSync } from "node:zlib";
import { LogReader } from "../../../tools/commands.ts";
import { type AgentRun, idsIn, isPublishable, modelKey } from "./agent.ts";
import { token } from "./github.ts";
import { type AttemptRun, type History, isSuccess, textsOfRefs } from "./play.ts";

/** Something that must not be. */
export interface Finding {
  /** What is broken, by which a smaller history is known to show the same. */
  kind: string;
  text: string;
}

/**
 * Judges a history by what the agents did, what GitHub has, and the outputs. What a log says counts only where a promise is about that: what
 * cannot be kept has to be said before the agent runs.
 */
export function judge(history: History): Finding[] {
  return new Judge(history).judge();
}

class Judge {
  readonly #history: History;
  readonly #found: Finding[] = [];
  /** The ids of agents whose pages are on GitHub at the end: on the default branch or in a pull request. */
  readonly #published: ReadonlySet<string>;
  /** … on a branch that a person deleted; … on any branch. */
  readonly #deleted: ReadonlySet<string>;
  readonly #onBranches: ReadonlySet<string>;
  readonly #texts: readonly string[];

  constructor(history: History) {
    this.#history = history;
    this.#published = this.#idsOf("main", "--glob=refs/pull");
    this.#deleted = this.#idsOf("--glob=refs/deleted", "main");
    this.#onBranches = this.#idsOf("--branches");
    this.#texts = textsOfRefs(history.github.docs);
  }

  judge(): Finding[] {
    for (const attempt of this.#history.attempts) {
      this.#judgeEnd(attempt);
      this.#judgeOutcome(attempt);
    }
    this.#judgePayments();
    this.#judgeWork();
    this.#judgePulls();
    this.#judgeSecrets();
    return this.#found;
  }

  #add(kind: string, text: string): void {
    this.#found.push({ kind, text: text.replace(/\s+/g, " ").slice(0, 600) });
  }

  #idsOf(...what: string[]): Set<string> {
    const { docs } = this.#history.github;
    return new Set(idsIn(docs.git("log", ...what, "--format=", "--name-only", "--diff-filter=AM")));
  }

  /** Each attempt ends, says how, names its job, and leaves nothing. */
  #judgeEnd(attempt: AttemptRun): void {
    const { name, outputs, exitCode, isKilled, isCancelled, isHung, log } = attempt;
    if (isHung) this.#add("hangs", name);
    if (/Internal error|TypeError|ReferenceError/.test(log))
      this.#add("internal error", `${name}: ${lastError(attempt)}`);
    if (attempt.survivors.length > 0) this.#add("leaves processes", `${name}: ${attempt.survivors.join(" | ")}`);
    if (isKilled || isHung) return;
    if (attempt.left.length > 0) this.#add("leaves files", `${name}: ${attempt.left.join()}`);
    if (exitCode === null) this.#add("cancelled too slowly", name);
    else if (!outputs.outcome) this.#add("no outcome", `${name}: ${lastError(attempt)}`);
    if (!isCancelled && (exitCode === 0) !== isSuccess({ exitCode: 0, outputs }))
      this.#add("exit code", `${name}: ${exitCode} with ${outputs.outcome}`);
    const jobs = new Set(this.#agentsOf(attempt).map(({ job }) => job));
    if (exitCode !== null && jobs.size > 0 && !jobs.has(outputs["job-id"] ?? ""))
      this.#add("job is not named", `${name}: ${outputs["job-id"]}, agents of ${[...jobs].join()}`);
    const lines = new LogReader().read(`${log}\n`);
    const live = lines.find((line) => line.kind === "command" && line.data.startsWith("not live"));
    if (live) this.#add("live text", `${name}: ${JSON.stringify(live)}`);
  }

  #agentsOf({ name }: AttemptRun): AgentRun[] {
    return this.#history.agents.filter(({ attempt }) => attempt === name);
  }

  /** What the outputs say is so. */
  #judgeOutcome(attempt: AttemptRun): void {
    const { name, run, outputs, after, before } = attempt;
    const own = this.#agentsOf(attempt);
    const made = own.filter(isMade);
    const ofRun = this.#history.agents.filter((agent) => agent.run === run && this.#isBy(agent, attempt));
    if (outputs.outcome === "pr-created") {
      const pull = after.pulls.find(({ number }) => String(number) === outputs["pr-number"]);
      if (!pull || pull.branch !== `agent/${outputs["job-id"]}`)
        this.#add("false pull request", `${name}: ${outputs["pr-link"]} of ${outputs["job-id"]}`);
      else {
        const has = this.#idsOf(pull.head, "--not", pull.start);
        const missing = made.filter(({ id }) => !has.has(id));
        if (missing.length > 0)
          this.#add("pull request without its work", `${name}: #${pull.number} lacks ${missing.map(describe).join()}`);
        // Kept work that this attempt published.
        const isOther = [...has].some((id) => !before.published.has(id) || before.kept.has(id));
        if (!isOther && !ofRun.some(({ id }) => has.has(id)))
          this.#add("pull request of others", `${name}: #${pull.number} has nothing of ${ofRun.map(describe).join()}`);
      }
    }
    if (outputs.outcome === "no-changes") {
      if (made.length > 0) this.#add("false no-changes", `${name}: ${made.map(describe).join()}`);
      if (!ofRun.some((agent) => agent.isCompleted && !isMade(agent)))
        this.#add("success without work", `${name}: no-changes, ${ofRun.map(describe).join()}`);
    }
    if (outputs.outcome === "skipped") this.#judgeSkipped(attempt, own);
    this.#judgeCheck(attempt);
  }

  /** A night is skipped only if nothing changed since the last commit that a completed agent was told of. */
  #judgeSkipped(attempt: AttemptRun, own: readonly AgentRun[]): void {
    const { agents, attempts, github } = this.#history;
    if (own.length > 0) this.#add("skipped with an agent", attempt.name);
    const told = attempts.filter(
      ({ name }) => agents.some((agent) => agent.attempt === name && agent.isCompleted) && name !== attempt.name,
    );
    const since = told.flatMap(({ sha }) => ["--not", sha]);
    const changes = github.docs.git("log", "--format=%s", attempt.sha, ...since, "--", "src");
    if (told.length === 0 || changes !== "") this.#add("falsely skipped", `${attempt.name}: ${changes}`);
  }

  #judgeCheck({ name, outputs, after }: AttemptRun): void {
    const result = outputs["check-result"];
    const pull = after.pulls.find(({ number }) => String(number) === outputs["pr-number"]);
    if (!result || !pull || outputs.outcome !== "pr-created") return;
    const { docs } = this.#history.github;
    const last = docs.git("log", "-1", "--format=%H", "--grep=^Agent-Job: ", pull.head);
    const isBroken = last !== "" && this.#grep(docs, last);
    if ((result === "passed") === isBroken) this.#add("false check", `${name}: ${result}, of ${last}`);
  }

  #grep(docs: History["github"]["docs"], commit: string): boolean {
    try {
      docs.git("grep", "-q", "BROKEN", commit, "--", "docs");
      return true;
    } catch {
      return false;
    }
  }

  #isBy(agent: AgentRun, attempt: AttemptRun): boolean {
    return this.#place(agent.attempt) <= this.#place(attempt.name);
  }

  #place(name: string): number {
    return this.#history.attempts.findIndex((attempt) => attempt.name === name);
  }

  #attemptOf({ attempt: of }: AgentRun): AttemptRun {
    const found = this.#history.attempts.find(({ name }) => name === of);
    if (!found) throw new Error(`no attempt ${of}`);
    return found;
  }

  /**
   * Returns why the work of an attempt may be gone, and may be paid again by later ones; `undefined` if nothing excuses that. Otherwise, refs of
   * the repository keep it, whatever the cache is, or the cache where refs are refused.
   */
  #excuse(attempt: AttemptRun, later: readonly AttemptRun[]): string | undefined {
    const { access, isCancelled, plan, log, outputs } = attempt;
    if (isCancelled) return "cancelled";
    if (isLostEarly(attempt)) return "killed before it was kept";
    if (plan.rule === "finds a secret") return "GitHub found a secret";
    if (this.#history.plan.refusesRefs) {
      if (access !== "write" && /is lost, and has to be paid again/.test(log)) return "said before";
      if (access === "write" && later.some((one) => one.plan.isEvicted || one.access === "none"))
        return "not in the cache";
    }
    const isTold = outputs["work-file"] !== "" || /lost with this runner|was not pushed or saved is lost/.test(log);
    return attempt.faulted.length > 0 && isTold ? "told" : undefined;
  }

  /** No agent runs twice for a request whose work was made. */
  #judgePayments(): void {
    const { agents, attempts, plan } = this.#history;
    const first = agents.filter(({ isSecondGo }) => !isSecondGo);
    for (const [index, agent] of first.entries()) {
      const expected = plan.hasSamePrompt ? "TASK-same" : `TASK-r${agent.run}`;
      if (agent.task !== expected) this.#add("another request's agent", `${describe(agent)}: ${agent.task}`);
      const earlier = first.slice(0, index).findLast(({ run }) => run === agent.run);
      if (!earlier) continue;
      const attempt = this.#attemptOf(earlier);
      const between = attempts.slice(this.#place(earlier.attempt) + 1, this.#place(agent.attempt) + 1);
      const what = `${describe(earlier)}, then ${describe(agent)}; ${between.flatMap(({ faulted }) => faulted).join()}`;
      if (earlier.attempt === agent.attempt) this.#add("two agents in an attempt", what);
      else if (isMade(earlier)) {
        if (agent.published.has(earlier.id)) this.#add("paid twice: published", what);
        else if (agent.kept.has(earlier.id)) this.#add("paid twice: kept", what);
        else if (!this.#excuse(attempt, between)) this.#add("paid twice", what);
      }
    }
    for (const agent of agents) {
      if (agent.other && plan.mode === "session")
        this.#add("two agents of a session at once", `${agent.other} and ${describe(agent)}`);
      const { isKilled, isCancelled, outputs } = this.#attemptOf(agent);
      // On a busy machine, agents that do little can take that long as well.
      const isOver = outputs.outcome === "timed-out" || agents.some(({ kind }) => kind === "overtime");
      const isWanted = isKilled || isCancelled || isOver || ["fails", "endless"].includes(agent.kind);
      if (!agent.isCompleted && !isWanted) this.#add("agent cut off", describe(agent));
    }
  }

  /** What a completed agent made is published at the end. */
  #judgeWork(): void {
    const { agents, attempts, plan } = this.#history;
    const last = attempts.at(-1);
    if (last && !isSuccess(last) && (plan.mode !== "session" || last.isHealthy))
      this.#add("no healthy end", `${last.name}: ${last.outputs.outcome}, ${lastError(last)}`);
    for (const agent of agents.filter(isMade)) {
      // People who deleted a branch have seen it.
      if (this.#published.has(agent.id) || this.#deleted.has(agent.id)) continue;
      const attempt = this.#attemptOf(agent);
      const { outputs, access, faulted, after } = attempt;
      const what = `${describe(agent)}: ${outputs.outcome}, cache ${access}, ${faulted.join()}, ${lastError(attempt)}`;
      if (this.#onBranches.has(agent.id)) this.#add("work without a pull request", what);
      else if (after.published.has(agent.id)) this.#add("lost: published", what);
      else if (after.kept.has(agent.id)) this.#add("lost: kept", what);
      else if (!this.#excuse(attempt, attempts.slice(this.#place(attempt.name) + 1))) this.#add("lost", what);
    }
  }

  /** A session has one open pull request, a thread and a request as well, and no branch has work without one. */
  #judgePulls(): void {
    const { agents, attempts, github, plan, hasReopened } = this.#history;
    const open = github.open();
    if (hasReopened) return;
    const shown = open.map(({ number, branch }) => `#${number} of ${branch.slice(0, 18)}`).join();
    // After two failures, a session leaves its job.
    const failures = attempts.filter(({ outputs }) => outputs.outcome === "failed").length;
    if (plan.mode !== "plain" && open.length > 1 && failures < 2) this.#add("two open pull requests", shown);
    for (const run of new Set(agents.map((agent) => agent.run))) {
      const ids = agents.filter((agent) => agent.run === run).map(({ id }) => id);
      const having = open.filter(({ head, start }) => {
        const has = this.#idsOf(head, "--not", start);
        return ids.some((id) => has.has(id));
      });
      if (having.length > 1) this.#add("two pull requests of a request", `run ${run}: ${shown}`);
    }
  }

  /** No secret is anywhere but where it belongs. */
  #judgeSecrets(): void {
    const { attempts, agents, github, entries, plan, runtimeToken } = this.#history;
    const secrets = [token, runtimeToken, Buffer.from(`x-access-token:${token}`).toString("base64")];
    const all = [...secrets, ...(plan.hasModelKey ? [modelKey] : [])];
    const look = (place: string, text: string, what: readonly string[] = all): void => {
      for (const secret of what) if (text.includes(secret)) this.#add("secret", `${secret.slice(0, 10)} in ${place}`);
    };
    for (const { name, log, summary, outputs } of attempts) {
      look(`the log of ${name}`, log.replaceAll(/^::add-mask::.*$/gm, ""));
      look(`the summary of ${name}`, summary);
      look(`the outputs of ${name}`, JSON.stringify(outputs));
    }
    for (const agent of agents) look(`the environment of ${describe(agent)}`, agent.found, secrets);
    for (const text of github.texts) look("a pull request or comment", text);
    for (const text of this.#texts) look("a ref of kept work", text);
    for (const { key, content } of entries) look(`the cache's ${key}`, unpacked(content));
    if (plan.hasModelKey && github.docs.git("log", "--all", "-S", modelKey, "--format=%h") !== "")
      this.#add("secret", "the model's key in a commit");
  }
}

/** Whether an agent has made something that is to be published. */
const isMade = ({ isCompleted, kind }: AgentRun): boolean => isCompleted && isPublishable(kind);

/**
 * Whether a process of an attempt was killed before its work could be kept. That comes first after the agent's end: once the attempt pushes to
 * a branch, it is done, unless GitHub or the cache failed.
 */
function isLostEarly({ isKilled, requests, faulted, cached }: AttemptRun): boolean {
  const since = requests.slice(requests.lastIndexOf("agent ended"));
  return (
    isKilled && cached === 0 && (faulted.length > 0 || !since.some((one) => /^push .*(?:create|move) branch/.test(one)))
  );
}

const describe = ({ id, kind, attempt, isCompleted }: AgentRun): string =>
  `${id} (${kind} in ${attempt}${isCompleted ? "" : ", not completed"})`;

const lastError = ({ log }: AttemptRun): string => [...log.matchAll(/^::error.*$/gm)].at(-1)?.[0] ?? log.slice(-300);

/** Returns the text of an entry of the cache. */
function unpacked(content: Buffer): string {
  try {
    return gunzipSync(content).toString("latin1");
  } catch {
    return content.toString("latin1");
  }
}
