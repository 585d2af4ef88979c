import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, Connection, type NoAnswer } from "./connection.ts";
import { faultsOf, isObject, type JobRecord } from "./job-record.ts";
import { isAccepted, Prompts } from "./prompts.ts";
import type { RequirementId } from "./requirements.ts";
import { describe, printable, Results } from "./results.ts";

export interface ConformOptions {
  baseUrl: URL;
  project: string;
  key: string;
  /** Whether to create a job and to send it a message. */
  startsJob: boolean;
  prompt: string;
  message: string;
  /** How long to wait for the end of a turn. */
  turnLimitMs: number;
  /** Default: 5 s. */
  pollMs?: number;
  /** How long a read may still show the state from before a message. Default: 15 s, as the action allows. */
  settleMs?: number;
}

const json = "application/json";
const rateLimited = "the service has a limit of requests that is reached (429)";

/** What only the checks with prompts find out. */
const withPrompts = [
  "create-without-key",
  "create-with-wrong-key",
  "create-without-prompt",
  "create-with-empty-prompt",
  "create-with-number",
  "create-not-json",
  "create-accepted",
  "create-record",
  "read-accepted",
  "read-record",
  "other-project",
  "job-ends",
  "message-without-key",
  "message-without-prompt",
  "message-with-empty-prompt",
  "message-to-unknown-job",
  "message-accepted",
  "message-record",
  "message-ends",
] as const satisfies RequirementId[];

/** What only a service has that knows keys. */
const withKeys = [
  "lookup-own-turn",
  "lookup-own-message",
  "replay",
  "replay-header",
  "reused-key",
  "stop-ended-turn",
  "stop-unknown-turn",
  "unknown-base",
] as const satisfies RequirementId[];

/**
 * Checks from outside whether a service does what docs/protocol.md requires, and prints what it finds.
 *
 * @returns the requirements that it fails
 */
export async function conform(options: ConformOptions, print: (line: string) => void): Promise<RequirementId[]> {
  const { baseUrl, project, startsJob } = options;
  print(`Checking ${baseUrl.href} (project ${printable(project)}) against docs/protocol.md.`);
  print(
    startsJob
      ? "This creates 1 job and sends it 1 message. A service that accepts a request that it must reject may start 1 more:" +
          "\nafter that, no more creates and messages are sent."
      : "This only reads, and starts no job.",
  );
  print("");
  const results = new Results();
  await new Checks(options, results, print).run();
  for (const line of results.lines()) print(line);
  if (results.rest > 0)
    print(`not checked  ${results.rest} requirements${startsJob ? "" : " (most need --start-job)"}.`);
  print("");
  const unchecked = results.count("unchecked") + results.rest;
  print(`${results.count("met")} met, ${results.count("failed")} failed, ${unchecked} not checked.`);
  return results.failures;
}

class Checks {
  readonly #options: ConformOptions;
  readonly #results: Results;
  readonly #print: (line: string) => void;
  readonly #connection: Connection;
  readonly #prompts: Prompts;
  readonly #jobs: string;
  /** Of a key of ours: no other step has it. */
  readonly #step = `conform-${randomUUID()}`;
  /** Whether creates may name a session. */
  #hasSessions = false;

  constructor(options: ConformOptions, results: Results, print: (line: string) => void) {
    this.#options = options;
    this.#results = results;
    this.#print = print;
    this.#connection = new Connection(options.baseUrl, options.key);
    this.#prompts = new Prompts(this.#connection);
    this.#jobs = `/${encodeURIComponent(options.project)}/job`;
  }

  async run(): Promise<void> {
    if (!(await this.#isReachable())) return;
    const features = await this.#checkLookup();
    if (features === undefined) this.#results.unchecked(["lookup", ...withKeys], "not offered");
    this.#hasSessions = features?.includes("session") ?? false;
    if (this.#hasSessions) await this.#checkSession("unknown-session", `${this.#step}-other`, null);
    else this.#results.unchecked(["unknown-session", "session"], "not offered");
    if (!this.#options.startsJob) return;
    await this.#checkInvalidCreates();
    const job = await this.#checkCreate();
    if (job !== undefined) {
      if (features !== undefined) await this.#checkKeys(job.id);
      await this.#checkRead(job);
      const hasEnded = await this.#waitForEnd(job.id, "job-ends");
      if (hasEnded && features?.includes("stop")) await this.#checkStop(job.id);
      await this.#checkInvalidMessages(job.id);
      if (hasEnded) await this.#checkMessage(job.id, features !== undefined);
    }
    if (features?.includes("base")) await this.#checkUnknownBase();
    else this.#results.unchecked(["unknown-base"], "not offered");
    if (!features?.includes("stop")) this.#results.unchecked(["stop-ended-turn", "stop-unknown-turn"], "not offered");
    const why = this.#prompts.obstacle ?? "what it depends on has failed";
    this.#results.unchecked([...withPrompts, "held-read", "job-page", ...withKeys], why);
  }

  /** Checks reads of a job that does not exist. Returns whether the service answers, and takes the key. */
  async #isReachable(): Promise<boolean> {
    const path = `${this.#jobs}/no-such-job-${randomUUID()}`;
    const unknown = await this.#connection.send({ path });
    if (this.#expectStatus("unknown-job", [404], unknown)) this.#results.check("error-body", errorFault(unknown));
    if ("error" in unknown) return false;
    if (unknown.status === 401 || unknown.status === 403) {
      this.#print("The service does not take the key in AGENT_API_KEY, so nothing else is checked.\n");
      return false;
    }
    this.#expectStatus("read-without-key", [401], await this.#connection.send({ path, key: undefined }));
    this.#expectStatus("read-with-wrong-key", [401], await this.#connection.send({ path, key: wrongKey() }));
    return true;
  }

  /** Returns what the service offers beyond the specification; `undefined`: nothing. */
  async #checkLookup(): Promise<string[] | undefined> {
    const answer = await this.#lookUp();
    if ("error" in answer || answer.status !== 200 || !isObject(answer.json) || answer.json.step !== this.#step)
      return undefined;
    this.#results.check("lookup", listFault(answer));
    const { features } = answer.json;
    return Array.isArray(features) ? features.map(String) : [];
  }

  #lookUp(session?: string): Promise<Answer | NoAnswer> {
    const query = new URLSearchParams({ step: this.#step, ...(session !== undefined && { session }) });
    return this.#connection.send({ path: `${this.#jobs}?${query}` });
  }

  /** @param expected - the job that the session continues, or `null` */
  async #checkSession(requirement: RequirementId, session: string, expected: string | null): Promise<void> {
    const answer = await this.#lookUp(session);
    const found = "status" in answer && isObject(answer.json) ? answer.json.session : undefined;
    const job = isObject(found) ? found.job : found;
    this.#results.check(requirement, job === expected ? undefined : describe(answer));
  }

  async #checkInvalidCreates(): Promise<void> {
    const path = this.#jobs;
    const body = { prompt: this.#options.prompt };
    const invalid = [
      ["create-without-key", [401], { path, body, key: undefined }],
      ["create-with-wrong-key", [401], { path, body, key: wrongKey() }],
      ["create-without-prompt", "rejected", { path, body: {} }],
      ["create-with-empty-prompt", "rejected", { path, body: { prompt: "" } }],
      ["create-with-number", "rejected", { path, body: { prompt: 1 } }],
      ["create-not-json", "rejected", { path, body: "{" }],
    ] as const;
    for (const [id, expected, request] of invalid)
      this.#expectStatus(id, expected, await this.#prompts.sendInvalid(request));
  }

  async #checkCreate(): Promise<JobRecord | undefined> {
    const answer = await this.#prompts.sendAnnounced(this.#create(this.#options.prompt));
    if (answer === undefined) return undefined;
    const job = this.#expectJob("create-accepted", "create-record", answer);
    if (job !== undefined) this.#print(`Created job ${printable(job.id)}.\n`);
    return job;
  }

  #create(prompt: string) {
    const session = this.#hasSessions && { session: this.#step };
    return { path: this.#jobs, body: { prompt, ...session }, headers: { "idempotency-key": `"${this.#step}.1"` } };
  }

  /** Checks that a create with a key is recognized. Only a service that has the list promises this. */
  async #checkKeys(jobId: string): Promise<void> {
    const list = await this.#lookUp();
    this.#results.check("lookup", listFault(list));
    const turns = turnsOf(list);
    const isListed = turns.length === 1 && turns.every((turn) => turn.job === jobId && turn.request === "1");
    this.#results.check("lookup-own-turn", isListed ? undefined : describe(list));
    if (this.#hasSessions) await this.#checkSession("session", this.#step, jobId);
    const replay = await this.#prompts.sendAgain(this.#create(this.#options.prompt), jobId);
    if (replay !== undefined) {
      const isSame = isAccepted(replay) && isObject(replay.json) && replay.json.id === jobId;
      this.#results.check("replay", isSame ? undefined : describe(replay));
      const header = "status" in replay ? replay.headers.get("idempotent-replayed") : undefined;
      this.#results.check("replay-header", header === "true" ? undefined : `Idempotent-Replayed: ${header}`);
    }
    const other = await this.#prompts.sendInvalid(this.#create(`${this.#options.prompt} (not the same)`));
    this.#expectStatus("reused-key", [422], other);
  }

  async #checkRead({ id }: JobRecord): Promise<void> {
    const path = `${this.#jobs}/${encodeURIComponent(id)}`;
    const elsewhere = `/no-such-project-${randomUUID()}/job/${encodeURIComponent(id)}`;
    const other = await this.#connection.send({ path: elsewhere });
    this.#results.check("other-project", isAccepted(other) || "error" in other ? describe(other) : undefined);
    const answer = await this.#connection.send({ path, headers: { prefer: "wait=1" } });
    this.#readJob(id, answer);
    if ("error" in answer) return;
    const applied = answer.headers.get("preference-applied");
    if (applied === null) this.#results.unchecked(["held-read"], "not offered");
    else
      this.#results.check("held-read", /\bwait(=\d+)?\b/.test(applied) ? undefined : `Preference-Applied: ${applied}`);
    const page = pageOf(answer);
    if (page === undefined) this.#results.unchecked(["job-page"], "not offered");
    else {
      const isOwn =
        URL.canParse(page, this.#connection.origin) &&
        new URL(page, this.#connection.origin).origin === this.#connection.origin;
      this.#results.check("job-page", isOwn ? undefined : `Link: <${printable(page)}>`);
    }
  }

  /** Polls until the job has ended. Returns whether it has. */
  async #waitForEnd(id: string, requirement: "job-ends" | "message-ends"): Promise<boolean> {
    const { turnLimitMs, pollMs = 5000, settleMs = 15_000 } = this.#options;
    const path = `${this.#jobs}/${encodeURIComponent(id)}`;
    const start = performance.now();
    let isSettled = requirement === "job-ends";
    for (;;) {
      const answer = await this.#connection.send({ path });
      const job = this.#readJob(id, answer);
      isSettled ||= job?.status === "active" || performance.now() - start >= settleMs;
      if (job !== undefined && job.status !== "active" && isSettled) {
        this.#results.met(requirement);
        const link = typeof job.prLink === "string" ? `: ${printable(job.prLink)}` : " without a pull request";
        this.#print(`The job is ${printable(job.status)}${link}.\n`);
        return true;
      }
      if (performance.now() - start + pollMs > turnLimitMs) {
        const waited = `after ${turnLimitMs / 60_000} minutes (--timeout-minutes), the job may still be running`;
        this.#results.failed(requirement, `${waited}. The last read: ${describe(answer)}`);
        return false;
      }
      await sleep(pollMs);
    }
  }

  #readJob(id: string, answer: Answer | NoAnswer): JobRecord | undefined {
    const isJob = "status" in answer && answer.status === 200 && isObject(answer.json) && answer.json.id === id;
    if (!this.#results.check("read-accepted", isJob ? undefined : describe(answer)) || !isJob) return undefined;
    const faults = faultsOf(answer.json);
    this.#results.check("read-record", faults.length > 0 ? `${faults.join(", ")} in ${describe(answer)}` : undefined);
    return answer.json as unknown as JobRecord;
  }

  async #checkInvalidMessages(id: string): Promise<void> {
    const path = `${this.#jobs}/${encodeURIComponent(id)}/message`;
    const body = { prompt: this.#options.message };
    const invalid = [
      ["message-without-key", [401], { path, body, key: undefined }],
      ["message-without-prompt", "rejected", { path, body: {} }],
      ["message-with-empty-prompt", "rejected", { path, body: { prompt: "" } }],
      ["message-to-unknown-job", [404], { path: `${this.#jobs}/no-such-job-${randomUUID()}/message`, body }],
    ] as const;
    for (const [requirement, expected, request] of invalid)
      this.#expectStatus(requirement, expected, await this.#prompts.sendInvalid(request));
  }

  async #checkMessage(id: string, knowsKeys: boolean): Promise<void> {
    const path = `${this.#jobs}/${encodeURIComponent(id)}/message`;
    const answer = await this.#prompts.sendAnnounced({
      path,
      body: { prompt: this.#options.message },
      headers: { "idempotency-key": `"${this.#step}.2"` },
    });
    if (answer === undefined) return;
    const job = this.#expectJob("message-accepted", "message-record", answer);
    if (job !== undefined && job.id !== id)
      this.#results.failed("message-accepted", `another job: ${describe(answer)}`);
    if (knowsKeys) {
      const list = await this.#lookUp();
      const isListed = turnsOf(list).some((turn) => turn.job === id && turn.request === "2");
      this.#results.check("lookup-own-message", isListed ? undefined : describe(list));
    }
    if (job?.id === id) await this.#waitForEnd(id, "message-ends");
  }

  /** The turn of the create has ended, so nothing is stopped. */
  async #checkStop(id: string): Promise<void> {
    const turn = turnsOf(await this.#lookUp()).find((one) => one.job === id);
    if (typeof turn?.turn !== "string") return;
    const stop = (name: string) =>
      this.#connection.send({
        method: "POST",
        path: `${this.#jobs}/${encodeURIComponent(id)}/turn/${encodeURIComponent(name)}/stop`,
      });
    const stopped = await stop(turn.turn);
    const isEnd =
      "status" in stopped && stopped.status === 200 && isObject(stopped.json) && stopped.json.status === turn.status;
    this.#results.check("stop-ended-turn", isEnd ? undefined : describe(stopped));
    this.#expectStatus("stop-unknown-turn", [404], await stop(`no-such-turn-${randomUUID()}`));
  }

  async #checkUnknownBase(): Promise<void> {
    const body = { prompt: this.#options.prompt, base: `no-such-branch-${randomUUID()}` };
    this.#expectStatus("unknown-base", "rejected", await this.#prompts.sendInvalid({ path: this.#jobs, body }));
  }

  /** Checks a status. `rejected`: of the request itself, and not of the key, the job or the number of requests. */
  #expectStatus(
    id: RequirementId,
    expected: readonly number[] | "rejected",
    answer: Answer | NoAnswer | undefined,
  ): answer is Answer {
    if (answer === undefined) return false;
    const status = "status" in answer ? answer.status : 0;
    if (status === 429) {
      this.#results.unchecked([id], rateLimited);
      return false;
    }
    const isExpected =
      expected === "rejected"
        ? status >= 400 && status < 500 && ![401, 403, 404, 408, 429].includes(status)
        : expected.includes(status);
    return this.#results.check(id, isExpected ? undefined : describe(answer));
  }

  #expectJob(accepted: RequirementId, record: RequirementId, answer: Answer | NoAnswer): JobRecord | undefined {
    if ("status" in answer && answer.status === 429) {
      this.#results.unchecked([accepted, record], rateLimited);
      return undefined;
    }
    const isJson = "status" in answer && (answer.headers.get("content-type") ?? "").startsWith(json);
    const isJob = isAccepted(answer) && isJson && isObject(answer.json);
    this.#results.check(accepted, isJob ? undefined : describe(answer));
    if (!isJob) return undefined;
    const faults = faultsOf(answer.json);
    this.#results.check(record, faults.length > 0 ? `${faults.join(", ")} in ${describe(answer)}` : undefined);
    const job = answer.json as unknown as JobRecord;
    return typeof job.id === "string" && job.id !== "" ? job : undefined;
  }
}

/** No service has issued it. It has the prefix of admin keys, so that it is not rejected for its form. */
function wrongKey(): string {
  return `mint_${randomUUID()}`;
}

function errorFault(answer: Answer): string | undefined {
  const { json: body } = answer;
  return isObject(body) && (body.error === undefined || typeof body.error === "string") ? undefined : describe(answer);
}

const failureClasses = ["transient", "agent", "limit", "credit", "model", "setting", "refused"];
const turnStatuses = ["waiting", "running", "completed", "failed", "stopped"];

/** Returns the turns in an answer that lists what was sent for a step. */
function turnsOf(answer: Answer | NoAnswer): Readonly<Record<string, unknown>>[] {
  const isList = "status" in answer && isObject(answer.json) && Array.isArray(answer.json.turns);
  return isList ? (answer.json as { turns: unknown[] }).turns.filter(isObject) : [];
}

/** Returns what is wrong with the list of a step. */
function listFault(answer: Answer | NoAnswer): string | undefined {
  if ("error" in answer || answer.status !== 200 || !isObject(answer.json)) return describe(answer);
  const { features, turns } = answer.json;
  const isList = Array.isArray(features) && features.every((feature) => typeof feature === "string");
  if (!isList || !Array.isArray(turns)) return describe(answer);
  const areValid = turns.every(
    (turn) =>
      isObject(turn) &&
      [turn.job, turn.turn, turn.request].every((text) => typeof text === "string" && text !== "") &&
      turnStatuses.includes(String(turn.status)) &&
      (turn.message === undefined || typeof turn.message === "string") &&
      (turn.class === undefined || failureClasses.includes(turn.class as string)) &&
      (turn.kept === undefined || ["push", "pull-request", "unfinished"].includes(String(turn.kept))) &&
      (turn.change === undefined || turn.change === "none") &&
      (turn.check === undefined || ["passed", "failed", "failed-before"].includes(String(turn.check))) &&
      (turn.usage === undefined || (isObject(turn.usage) && isCost(turn.usage.costUsd))),
  );
  return areValid ? undefined : describe(answer);
}

function isCost(cost: unknown): boolean {
  return cost === undefined || (typeof cost === "number" && cost >= 0);
}

/** Returns the page that a `Link` header names for the job. RFC 8288. */
function pageOf({ headers }: Answer): string | undefined {
  for (const [, target, parameters = ""] of (headers.get("link") ?? "").matchAll(/<([^>]*)>([^<]*)/g))
    if (/;\s*rel="?alternate"?/i.test(parameters) && /;\s*type="?text\/html"?/i.test(parameters)) return target;
  return undefined;
}
