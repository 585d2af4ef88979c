import { order } from "../../../test/simulation/timeline.ts";
import type { ReplayedRecord } from "../../src/jobs/jobs.ts";
import type { JobRecord, RateLimited, RequestKey } from "../../src/model.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../src/store-errors.ts";
import { numberOf, promptOf } from "./agents.ts";
import type { TurnRow } from "./audit.ts";
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

/** A prompt that a client sends after a turn failed of which something is kept, until it has an answer. */
interface Retry {
  turn: TurnRow;
  project: string;
  /** The index of the client's request in the scenario. */
  index: number;
  prompt: string;
  as: "message" | "create";
  key: RequestKey;
}

/** The request by which the first turn of a request of the scenario is sent. */
export const firstRequest = (index: number): string => `${index}.0`;

const keyOf = (index: number, request: string): RequestKey => ({ caller: "client", step: `step ${index}`, request });

/** So often, a client does not wait until nothing is refused any longer. */
const impatientRetries = 2;
/** How long a client waits for an answer. */
const answerMs = 30_000;

/** The clients, which send the requests of a scenario. They know the jobs whose creates were accepted. */
export class Clients {
  /** For each request. */
  readonly answers: Answer[];
  readonly #world: World;
  readonly #apis: readonly ApiMachine[];
  readonly #jobs: { id: string; project: string }[] = [];
  /** How many retries each client has begun. */
  readonly #retries: number[];
  readonly #waiting = new Set<Retry>();

  constructor(world: World, apis: readonly ApiMachine[]) {
    this.#world = world;
    this.#apis = apis;
    const { scenario, timeline } = world;
    this.#retries = scenario.requests.map(() => 0);
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

  /** Whether a client will send something again. */
  get areWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Lets the client of a turn send its prompt again, or another one: something of the turn is kept. */
  onKept(turn: TurnRow): void {
    const { scenario, timeline, faults, audit } = this.#world;
    const index = numberOf(turn.prompt) % scenario.requests.length;
    const { retry } = scenario.requests[index] ?? {};
    const project = audit.jobs.get(turn.job)?.project;
    const isWaiting = [...this.#waiting].some((one) => one.turn.identity === turn.identity);
    if (retry === undefined || project === undefined || isWaiting) return;
    const count = (this.#retries[index] ?? 0) + 1;
    this.#retries[index] = count;
    const isOther = retry.as === "another prompt";
    const one: Retry = {
      turn,
      project,
      index,
      prompt: isOther ? promptOf(scenario.requests.length + index) : turn.prompt,
      as: retry.as === "create" ? "create" : "message",
      key: keyOf(index, `${index}.${count}`),
    };
    this.#waiting.add(one);
    const from = count > impatientRetries ? Math.max(timeline.now, faults.endsAt) : timeline.now;
    timeline.at(from + retry.ms, order.read, () => this.#retry(one));
  }

  /** Sends a request until it has an answer, unless somebody else was faster. */
  #retry(retry: Retry): void {
    const { timeline, audit, scenario } = this.#world;
    if (!this.#waiting.has(retry)) return;
    const last = [...audit.turns.values()].findLast(({ job }) => job === retry.turn.job);
    if (last?.identity !== retry.turn.identity || last.kept === null) {
      this.#waiting.delete(retry);
      return;
    }
    timeline.at(timeline.now + answerMs, order.read, () => this.#retry(retry));
    const api = this.#apis[(scenario.requests[retry.index]?.api ?? 0) % this.#apis.length];
    if (api?.process.isAlive) void this.#sendRetry(retry, api);
  }

  async #sendRetry(retry: Retry, api: ApiMachine): Promise<void> {
    const { audit, faults } = this.#world;
    const { turn, project, prompt, key, as } = retry;
    await new Promise<void>((resolve) => api.process.after(0, order.read, resolve));
    try {
      const result =
        as === "create"
          ? await api.jobs.create(project, prompt, key)
          : await api.jobs.message(project, turn.job, prompt, key);
      this.#waiting.delete(retry);
      if (result && "replayed" in result) return;
      if (kindOf(result) !== "limited" && faults.losses === 0 && (result === undefined || !("id" in result)))
        audit.violations.push(`the job of turn ${turn.id} was not found`);
      const isStored = [...audit.turns.values()].some(({ request }) => request === key.request);
      if (kindOf(result) === "accepted" && !isStored && !audit.lost.has(key.request))
        audit.violations.push(`the request ${key.request} was accepted, but is not stored`);
      if (result && "id" in result && result.id !== turn.job && faults.losses === 0)
        audit.violations.push(`a create for which turn ${turn.id} is kept began another job`);
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof OutcomeUnknown))
        audit.violations.push(`the request ${key.request} was answered with ${error}`);
    }
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
    const key = keyOf(index, firstRequest(index));
    // It reaches the process when that runs.
    await new Promise<void>((resolve) => api.process.after(0, order.read, resolve));
    try {
      const prompt = promptOf(index);
      const result = job
        ? await api.jobs.message(project, job.id, prompt, key)
        : await api.jobs.create(project, prompt, key);
      answer.kind = kindOf(result);
      if (result && "id" in result && !job) this.#jobs.push({ id: result.id, project });
    } catch (error) {
      answer.kind =
        error instanceof StoreUnavailable ? "not-accepted" : error instanceof OutcomeUnknown ? "unknown" : "error";
      answer.error = error;
    }
    answer.answeredAt = timeline.now;
    const isStored = [...audit.turns.values()].some((turn) => turn.request === key.request);
    if (answer.kind === "accepted" && !isStored && !audit.lost.has(key.request))
      audit.violations.push(`request ${index} was accepted, but is not stored`);
  }
}

function kindOf(result: JobRecord | ReplayedRecord | RateLimited | undefined): AnswerKind {
  if (result === undefined) return "not-found";
  return "id" in result || "replayed" in result ? "accepted" : "limited";
}
