import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import { resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

const mainFile = resolve(import.meta.dirname, "../../src/main.ts");

/** The API key of all services. */
export const apiKey = "mint_chaos_key_of_no_value";

const restartPauseMs = 1000;

export interface ServiceProcessOptions {
  /** Names it in the report. */
  name: string;
  args: readonly string[];
  /** Of the service. */
  folder: string;
  /** Receives what it prints. */
  logFile: string;
  /** Called with each line that it prints. */
  onLine: (line: string) => void;
}

/** An API or a worker as a process of its own, which is started again whenever it has ended, as an init system does. */
export class ServiceProcess {
  readonly name: string;
  /** Exits that nobody caused. */
  readonly unexpectedExits: string[] = [];
  /** Starts that failed, for example because the database was down. */
  failedStarts = 0;
  readonly #options: ServiceProcessOptions;
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  #child: ChildProcess | undefined;
  #isReady = false;
  /** Whether the exit of the running process is wanted. */
  #isStopping = false;
  /** Resolves when it may be started again. */
  #release: PromiseWithResolvers<void> | undefined;

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.#options = options;
    this.#running = this.#keepRunning();
  }

  /** Whether it does its work now, or is paused. */
  get isReady(): boolean {
    return this.#isReady;
  }

  async waitUntilReady(): Promise<void> {
    while (!this.#isReady) await setTimeout(50);
  }

  /** Sends a signal. After one that ends the process, it is started again. */
  signal(signal: "SIGKILL" | "SIGTERM" | "SIGSTOP" | "SIGCONT"): void {
    if (signal === "SIGKILL" || signal === "SIGTERM") {
      this.#isStopping = true;
      this.#isReady = false;
    }
    this.#child?.kill(signal);
  }

  /** Kills the process, and does not start it again before `release`. Resolves when it has ended. */
  async hold(): Promise<void> {
    this.#release = Promise.withResolvers();
    const child = this.#child;
    this.signal("SIGKILL");
    if (child?.exitCode === null && child.signalCode === null) await once(child, "exit");
  }

  release(): void {
    this.#release?.resolve();
    this.#release = undefined;
  }

  /** Stops the process for good, and waits until it has ended. */
  async stop(): Promise<void> {
    this.#ended.abort();
    this.signal("SIGCONT");
    this.signal("SIGTERM");
    await this.#running;
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted) {
      await this.#runOnce();
      await this.#release?.promise;
      await setTimeout(restartPauseMs, undefined, { signal }).catch(() => {});
    }
  }

  async #runOnce(): Promise<void> {
    const { name, args, folder, logFile, onLine } = this.#options;
    this.#isStopping = false;
    const child = spawn(process.execPath, [mainFile, ...args], {
      env: { ...process.env, AGENT_SERVICE_KEY: apiKey, STATE_DIRECTORY: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const exited = once(child, "exit");
    let last = "";
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on("line", (line) => {
        last = line;
        appendFileSync(logFile, `${line}\n`);
        onLine(line);
        if (/^(Listening on|Running up to) /.test(line)) this.#isReady = !this.#isStopping;
      });
    const [code, killedBy] = (await exited) as [number | null, string | null];
    appendFileSync(logFile, `--- ended with ${code ?? killedBy}\n`);
    const wasReady = this.#isReady;
    this.#isReady = false;
    if (this.#isStopping) return;
    if (wasReady) this.unexpectedExits.push(`${name} exited with ${code ?? killedBy}: ${last}`);
    else this.failedStarts++;
  }
}
