import { order, type Timeline } from "../../../test/simulation/timeline.ts";
import { builtInEditor } from "../../src/agents/agent.ts";
import type { AgentResult } from "../../src/agents/run-agent.ts";
import type { Start } from "../../src/git/find-start.ts";
import type { WorktreePlace } from "../../src/git/worktree.ts";
import { ResourceExhausted } from "../../src/processes/resource-exhausted.ts";
import type { TurnHost } from "../../src/turns/turn-host.ts";
import type { TurnPorts } from "../../src/turns/turn-ports.ts";
import type { Clone } from "./clone.ts";
import type { Draws } from "./draws.ts";
import { activeAt } from "./faults.ts";
import type { MachineProcess } from "./machine-process.ts";
import type { ClientRequest, Fault } from "./scenario.ts";

/** A run of an agent, with what it was told. */
export interface AgentRun {
  /** The request that its turn was sent with. */
  request: string;
  prompt: string;
  process: MachineProcess;
  startedAt: number;
  /** Whether the process continues after a pause, and so cannot know yet what has happened meanwhile. */
  isAfterPause: boolean;
  /** Whether the agent changes something if it completes. */
  isChanging: boolean;
  /** `undefined` while it runs, and after it was killed with its service. */
  end: AgentResult["end"] | undefined;
  endedAt: number | undefined;
}

/** The prompt of a request of the scenario, by its index. Later numbers are those of other prompts of the same clients. */
export const promptOf = (number: number): string => `Request ${number}`;

/** Returns the number of a prompt. */
export const numberOf = (prompt: string): number => Number(prompt.split(" ")[1]);

/** Returns the request of the scenario whose client sends a prompt. */
export function requestOf(prompt: string, requests: readonly ClientRequest[]): ClientRequest | undefined {
  return requests[numberOf(prompt) % requests.length];
}

/** How long an agent that is stopped takes to end, at most. */
const graceMs = 5000;

export interface AgentHostOptions {
  timeline: Timeline;
  process: MachineProcess;
  draws: Draws;
  clone: Clone;
  requests: readonly ClientRequest[];
  /** When the machine has no space on its disk. */
  noSpace: readonly Fault[];
  /** Receives what is appended to the log of a job. */
  onLog: (text: string) => void;
  /** Called when an agent has run to its end. */
  onEnd: () => void;
  /** Receives each run when it starts. Returns how many its prompt had before. */
  onRun: (run: AgentRun) => number;
}

/** What a turn uses of a disk and of processes, without either. */
export class AgentHost implements TurnHost {
  readonly agent = builtInEditor;
  readonly worktrees: TurnPorts["worktrees"];
  readonly #options: AgentHostOptions;

  constructor(options: AgentHostOptions) {
    this.#options = options;
    this.worktrees = {
      checkOut: (place, start) => this.#checkOut(place, start),
      takeBack: async () => {},
      release: async () => {},
    };
  }

  prepare(): Promise<boolean> {
    return this.#options.process.ask(0, () => true, 0);
  }

  async clean(): Promise<void> {}

  appendLog(file: string, text: string): void {
    this.#options.onLog(`${file}: ${text}`);
  }

  async hideSecrets(): Promise<void> {}

  async lastOutput(): Promise<string> {
    return "";
  }

  async hasOwnCommits(): Promise<boolean> {
    return false;
  }

  async findSessions(): Promise<string[]> {
    return [];
  }

  async replaceHome(): ReturnType<TurnHost["replaceHome"]> {
    return { drop: async () => {}, [Symbol.asyncDispose]: async () => {} };
  }

  async mayHaveLeftWork(): Promise<boolean> {
    return false;
  }

  readonly runAgent: TurnHost["runAgent"] = (_agent, options) =>
    new Promise((resolve) => {
      const { process, draws, clone, requests, onRun, onEnd, timeline } = this.#options;
      const { prompt } = options;
      const run: AgentRun = {
        request: options.requestId,
        prompt,
        process,
        startedAt: timeline.now,
        isAfterPause: process.isResuming,
        isChanging: true,
        end: undefined,
        endedAt: undefined,
      };
      const { ms = 100, end: first = "completed", isNoOp = false, again } = requestOf(prompt, requests)?.agent ?? {};
      const isRepeated = onRun(run) > 0;
      const end = isRepeated && again === "failed" ? "failed" : first;
      run.isChanging = !isNoOp && !(isRepeated && again === "no-op");
      const finish = (result: AgentRun["end"]): void => {
        if (run.end !== undefined) return;
        run.end = result;
        run.endedAt = timeline.now;
        options.signal.removeEventListener("abort", onAbort);
        if (result === "completed" && run.isChanging)
          clone.edits.get(options.directories.tree)?.add(`edit ${run.request}`);
        if (result !== "stopped") onEnd();
        if (result !== undefined) resolve({ end: result, message: `Did ${prompt}`, error: undefined });
      };
      const onAbort = (): void => void process.after(draws.between(0, graceMs), order.read, () => finish("stopped"));
      process.after(ms, order.read, () => finish(end));
      if (options.signal.aborted) onAbort();
      else options.signal.addEventListener("abort", onAbort, { once: true });
    });

  async #checkOut(place: WorktreePlace, start: Start) {
    const { process, draws, clone, noSpace, timeline } = this.#options;
    await process.ask(draws.between(10, 1000), () => {}, 0);
    if (activeAt(noSpace, timeline.now)) throw new ResourceExhausted("no space left");
    clone.edits.set(place.tree, new Set());
    return { ...place, head: start.head, identity: undefined };
  }
}
