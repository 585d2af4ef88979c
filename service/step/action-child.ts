import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentConfig, AgentReply, AgentRequest } from "../../src/runner-kit/agent-service.ts";
import { errorStack } from "../src/error-message.ts";
import { LiveLogs } from "./live-log.ts";
import { tellMemory } from "./memory/describe-memory.ts";
import { Report } from "./report.ts";
import { reportRun } from "./report-run.ts";
import { runner } from "./runner.ts";
import { checkAccessAndKey, explainStart, logFile, type ServiceConfig, type StepService, serve } from "./serve.ts";
import { readSettings, type Settings } from "./settings.ts";
import { checkGit, createFolder, prepareAgent } from "./setup/prepare.ts";

// The process that the action starts for its own agent. It ends with the action.

/** How long agents have to end if the action is gone, in milliseconds. */
const orphanGraceMs = 5000;
/** What is reserved for what a run says of its end, in milliseconds. */
const reportMs = 1000;
/** With less time than this, nothing waits for GitHub, in milliseconds. */
const unhurriedMs = 10_000;

/** A service, and what it is made of. */
export class ActionChild {
  readonly #config: ServiceConfig;
  readonly #files: Pick<AgentConfig, "logFile" | "workFile">;
  readonly #cancellation = new AbortController();
  readonly #openedAt = performance.now();
  #service: StepService | undefined;
  #live: LiveLogs | undefined;
  readonly #report = new Report();
  /** Whether the service runs agents. */
  #hasAgents = false;
  /** Requests are done one after another. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(config: ServiceConfig, files: Pick<AgentConfig, "logFile" | "workFile">) {
    this.#config = config;
    this.#files = files;
  }

  /**
   * @param hurry - aborts when there is no time to wait for GitHub. Default: never
   * @throws SetupError if the options are not valid, or the runner cannot run the service
   */
  static async open(
    { environment, settings: given, ...files }: AgentConfig,
    hurry?: AbortSignal,
  ): Promise<ActionChild> {
    const settings = readSettings(given, environment);
    await checkGit();
    const folder = createFolder(environment, settings.projectId);
    // A variable of the process would have the text `undefined`.
    for (const name of settings.options.agent.passes)
      if (environment[name] !== undefined) process.env[name] = environment[name];
    return new ActionChild({ settings, environment, folder, hurry }, files);
  }

  /** Does what the action asks for, and returns the reply. @throws SetupError if it cannot */
  handle(request: Exclude<AgentRequest, number>): Promise<AgentReply> {
    const done = this.#last.then(async () => {
      if (request === "check") await this.#check();
      else await this.#serve(request === "run");
      return { url: this.#service?.url ?? "" };
    });
    this.#last = done.catch(() => {});
    return done;
  }

  async #check(): Promise<void> {
    const { settings, environment } = this.#config;
    await this.#checkAccess();
    // What can be installed is not missing.
    const canInstall = settings.install && environment.RUNNER_ENVIRONMENT === "github-hosted";
    const isTested = settings.options.sandbox === "bwrap" && !canInstall;
    if (isTested) await this.#prepare({ ...settings, agentPackage: undefined });
  }

  /** Checks what GitHub and the model's host say of the keys. The step's end does not wait for them. */
  async #checkAccess(): Promise<void> {
    const { signal } = this.#cancellation;
    signal.throwIfAborted();
    await Promise.race([checkAccessAndKey(this.#config.settings, this.#log), once(signal, "abort")]);
    signal.throwIfAborted();
  }

  async #serve(hasAgents: boolean): Promise<void> {
    const { settings, environment, folder } = this.#config;
    const startsAgents = hasAgents && !this.#hasAgents;
    if (startsAgents) {
      process.env.PATH = await this.#prepare(settings);
      await this.#checkAccess();
    }
    this.#service ??= await serve(this.#config, this.#report, this.#log);
    if (!startsAgents) return;
    const { options, endsAfterMs, isQuiet } = settings;
    const memory = await this.#service.runAgents(() => endsAfterMs - (performance.now() - this.#openedAt));
    this.#hasAgents = true;
    if (!isQuiet) this.#live = new LiveLogs(join(folder, "service"), { secrets: options.secrets, print: runner.info });
    if (memory !== undefined) tellMemory(runner, memory, environment);
  }

  #prepare(settings: Settings): Promise<string | undefined> {
    const { folder, environment } = this.#config;
    const { signal } = this.#cancellation;
    return prepareAgent(settings, { folder, environment, info: runner.info, signal });
  }

  readonly #log = (line: string): void => {
    try {
      appendFileSync(join(this.#config.folder, logFile), `${new Date().toISOString()} ${line}\n`, { mode: 0o600 });
    } catch {
      // What did not end in time goes on for a moment after its folder was removed.
    }
  };

  /**
   * Ends what runs, saves what later runs continue, and says what the workflow's author should know.
   *
   * @param late - aborts when only that can still be said. Default: never
   * @returns whether the rest has ended
   */
  async end(late?: AbortSignal): Promise<boolean> {
    this.#cancellation.abort();
    const save = async (): Promise<boolean> => {
      await this.#last;
      await this.#service?.[Symbol.asyncDispose]();
      return true;
    };
    const isSaved = await Promise.race([save(), ...(late === undefined ? [] : [aborted(late).then(() => false)])]);
    await this.#live?.[Symbol.asyncDispose]();
    const { settings, environment, folder } = this.#config;
    await reportRun(runner, {
      folder,
      report: this.#report,
      isWorkflowToken: settings.isWorkflowToken,
      isOwnRepository: settings.isOwnRepository,
      environment,
      secrets: settings.options.secrets,
      transcript: this.#files.logFile,
      workFile: this.#files.workFile,
    });
    return isSaved;
  }
}

const aborted = (signal: AbortSignal): Promise<unknown> => (signal.aborted ? Promise.resolve() : once(signal, "abort"));

/**
 * Returns a function that ends something, and kills it if that takes too long. What has begun to end can be given another time.
 *
 * @param end - its signal aborts a second before that; never rejects
 */
export function endInTime(end: (late: AbortSignal) => Promise<void>, kill: () => void): (graceMs: number) => void {
  const late = new AbortController();
  let timers: NodeJS.Timeout[] = [];
  let hasBegun = false;
  const clear = (): void => {
    for (const timer of timers) clearTimeout(timer);
  };
  return (graceMs) => {
    clear();
    timers = [setTimeout(() => late.abort(), graceMs - reportMs), setTimeout(kill, graceMs)];
    if (!hasBegun) void end(late.signal).finally(clear);
    hasBegun = true;
  };
}

/** Runs the service for the action that has started this process, until that ends it, or is gone. */
export function serveAction(): void {
  process.umask(0o077);
  // The action decides what a signal means.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
  // Nobody reads what is printed when the action is gone.
  process.stdout.on("error", () => {});
  let child: Promise<ActionChild> | undefined;
  let isEnding = false;
  const hurry = new AbortController();
  // Everything that it has started is in its process group, or ends with it.
  const kill = (): void => {
    runner.info("Not everything could be saved in time: the next turn of the job may begin a new session of the agent");
    process.kill(-process.pid, "SIGKILL");
  };
  const endWithin = endInTime(async (late) => {
    isEnding = true;
    const started = await child?.catch(() => undefined);
    const isSaved = await started
      ?.end(late)
      .catch((error: unknown) => runner.info(`The agent service has not ended as it should: ${errorStack(error)}`));
    process.stdout.write("", () => (isSaved === false ? kill() : process.exit(0)));
  }, kill);
  const endIn = (graceMs: number): void => {
    if (graceMs < unhurriedMs) hurry.abort();
    endWithin(graceMs);
  };
  process.once("disconnect", () => {
    if (!isEnding) endIn(orphanGraceMs);
  });
  process.on("message", async (message: AgentConfig | AgentRequest) => {
    if (typeof message === "number") return endIn(message);
    if (typeof message === "object") {
      child = ActionChild.open(message, hurry.signal);
      child.catch(() => {});
      return;
    }
    const reply = await child
      ?.then((started) => started.handle(message))
      .catch((error: unknown) => {
        const { title, text } = explainStart(error);
        return { title, text };
      });
    if (reply !== undefined && process.connected) process.send?.(reply);
  });
}
