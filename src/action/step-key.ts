import { randomUUID } from "node:crypto";
import type { IdempotencyKey } from "../client/idempotency-key.ts";
import type { SentTurn } from "../client/step-lookup.ts";
import { hash } from "./hash.ts";
import { earlierAttempts, runAttempt, serverUrl } from "./runner/environment.ts";
import type { Settings } from "./settings.ts";

/** What tells the steps of a repository apart, besides the runner's environment. */
export interface StepKeyOptions
  extends Pick<Settings, "baseUrl" | "projectId" | "session" | "base" | "matrixLeg" | "onRerun"> {
  /** The input, or empty. */
  jobId: string;
  /** Comment mode: the comment, review or label event. Default: none. */
  request?: string;
}

/** What a step's requests are known by. It is the same in all attempts of a workflow run. */
export class StepKey {
  /** Whether a re-run has the same key: the runner says which workflow run it is. */
  readonly isLasting: boolean;
  /** Hash of the step. */
  readonly step: string;
  /** Whether this attempt makes requests of its own: with `on-rerun: new`, and attempts before it. */
  readonly isNew: boolean;
  readonly #attempt: number | undefined;
  readonly #earlierAttempts: readonly number[];

  /** @param environment - GitHub's documentation: "Variables reference" */
  constructor(options: StepKeyOptions, environment: NodeJS.ProcessEnv) {
    const { baseUrl, projectId, session, base, matrixLeg, onRerun, jobId, request = "" } = options;
    const { GITHUB_REPOSITORY_ID = "", GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
    // Without the ref, which differs between a pull request's branch and its merge.
    const [workflowFile] = (environment.GITHUB_WORKFLOW_REF ?? "").split("@");
    // Such runners count every run as 1, so that one would be taken for another.
    const isRunUnknown = GITHUB_RUN_ID === "" || environment.ACT === "true";
    this.isLasting = !isRunUnknown;
    this.step = hash(
      JSON.stringify([
        isRunUnknown ? randomUUID() : GITHUB_RUN_ID,
        serverUrl(environment),
        GITHUB_REPOSITORY_ID,
        workflowFile,
        GITHUB_JOB,
        GITHUB_ACTION,
        matrixLeg,
        baseUrl.href,
        projectId,
        session,
        base,
        jobId,
        request,
      ]),
    );
    const attempt = runAttempt(environment);
    this.isNew = onRerun === "new" && attempt > 1;
    this.#attempt = this.isNew ? attempt : undefined;
    this.#earlierAttempts = earlierAttempts(environment);
  }

  /**
   * Returns the key of a create or message.
   *
   * @param prompt - as it is sent
   * @param replaces - the turn that it takes the place of, because that one failed. Default: none
   */
  of(prompt: string, replaces?: string): IdempotencyKey {
    return { step: this.step, request: requestOf(prompt, replaces, this.#attempt) };
  }

  /** Returns the newest of the turns that was sent with a prompt; `undefined` if there is none. */
  find(prompt: string, turns: readonly SentTurn[]): SentTurn | undefined {
    const replaced = [undefined, ...turns.map(({ turnId }) => turnId)];
    // An earlier attempt may have had `on-rerun: new`.
    const attempts = [undefined, ...this.#earlierAttempts];
    const requests = new Set(
      replaced.flatMap((turnId) => attempts.map((attempt) => requestOf(prompt, turnId, attempt))),
    );
    return turns.find(({ request }) => requests.has(request));
  }
}

function requestOf(prompt: string, replaces: string | undefined, attempt: number | undefined): string {
  return hash(JSON.stringify([prompt, replaces ?? null, attempt ?? null]));
}
