import { order } from "../../../test/simulation/timeline.ts";
import type { ReplayedRecord } from "../../src/jobs/engine.ts";
import type { JobRecord, RateLimited } from "../../src/model.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/store-errors.ts";
import { promptOf } from "./agents.ts";
import type { ApiMachine, World } from "./machines.ts";

/** What a client got for a request: nothing if the machine was not there, or ended meanwhile. */
export type AnswerKind = "accepted" | "not-accepted" | "limited" | "not-found" | "unknown" | "error" | "none";

export interface Answer {
  kind: AnswerKind;
  /** The machine was there. */
  isSent: boolean;
  answeredAt: number | undefined;
  /** Or else a create. `undefined` if it was not sent. */
  isMessage: boolean | undefined;
  /** `undefined` if it was not sent. */
  project: string | undefined;
  error?: unknown;
}

/** The clients, which send the requests of a scenario. They know the jobs whose creates were accepted. */
export class Clients {
  /** For each request. */
  readonly answers: Answer[];
  readonly #world: World;
  readonly #apis: readonly ApiMachine[];
  readonly #jobs: { id: string; project: string }[] = [];

  constructor(world: World, apis: readonly ApiMachine[]) {
    this.#world = world;
    this.#apis = apis;
    const { scenario, timeline } = world;
    this.answers = scenario.requests.map(() => ({
      kind: "none",
      isSent: false,
      answeredAt: undefined,
      isMessage: undefined,
      project: undefined,
    }));
    for (const [index, { at }] of scenario.requests.entries())
      timeline.at(at, order.read, () => void this.#send(index));
  }

  async #send(index: number): Promise<void> {
    const { scenario, timeline, audit } = this.#world;
    const request = scenario.requests[index];
    const answer = this.answers[index];
    const api = this.#apis[(request?.api ?? 0) % this.#apis.length];
    if (!request || !answer || !api?.process.isAlive) return;
    const job = request.job === undefined ? undefined : this.#jobs[request.job % this.#jobs.length];
    answer.isSent = true;
    answer.isMessage = job !== undefined;
    const project = job?.project ?? `p${request.project}`;
    answer.project = project;
    // It reaches the process when that runs.
    await new Promise<void>((resolve) => api.process.after(0, order.read, resolve));
    try {
      const prompt = promptOf(index);
      const result = job ? await api.jobs.message(project, job.id, prompt) : await api.jobs.create(project, prompt);
      answer.kind = kindOf(result);
      if (result && "id" in result && !job) this.#jobs.push({ id: result.id, project });
    } catch (error) {
      answer.kind =
        error instanceof StoreUnavailable ? "not-accepted" : error instanceof OutcomeUnknown ? "unknown" : "error";
      answer.error = error;
    }
    answer.answeredAt = timeline.now;
    const isStored = [...audit.turns.values()].some(({ prompt }) => prompt === promptOf(index));
    if (answer.kind === "accepted" && !isStored && !audit.lost.has(promptOf(index)))
      audit.violations.push(`request ${index} was accepted, but is not stored`);
  }
}

function kindOf(result: JobRecord | ReplayedRecord | RateLimited | undefined): AnswerKind {
  if (result === undefined) return "not-found";
  return "id" in result ? "accepted" : "limited";
}
