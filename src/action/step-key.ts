import { randomUUID } from "node:crypto";
import type { IdempotencyKey } from "../client/contract.ts";
import { isLoopback } from "../client/credentials.ts";
import { hasEnded, type SentTurn } from "../client/step-lookup.ts";
import { hash } from "./hash.ts";
import { serverUrl } from "./runner/environment.ts";
import type { Settings } from "./settings.ts";

/** What tells the steps of a repository apart, besides the runner's environment. */
export interface StepKeyOptions extends Pick<Settings, "baseUrl" | "projectId" | "session" | "base" | "matrixLeg"> {
  jobId: string;
  /** Comment mode: the comment, review or label event. Default: none. */
  request?: string;
}

/** Returns what the runner knows a step of a workflow run by, in all of its attempts, whatever its inputs. */
export function stepOfRun(matrixLeg: string, environment: NodeJS.ProcessEnv): string {
  const { GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
  return hash(JSON.stringify([GITHUB_RUN_ID, GITHUB_JOB, GITHUB_ACTION, matrixLeg]));
}

/** How often the attempts of a run may have replaced their request: GitHub allows 50. */
const maxReplaced = 100;

/** What a step's requests are known by. It is the same in all attempts of a workflow run. */
export class StepKey {
  /** Whether a re-run has the same key: the runner says which workflow run it is. */
  readonly isLasting: boolean;
  readonly step: string;
  readonly #sessionParts: readonly string[] | undefined;

  /** @param environment - GitHub's documentation: "Variables reference" */
  constructor(options: StepKeyOptions, environment: NodeJS.ProcessEnv) {
    const { baseUrl, projectId, session, base, matrixLeg, jobId, request = "" } = options;
    const { GITHUB_REPOSITORY, GITHUB_RUN_ID = "", GITHUB_JOB = "", GITHUB_ACTION = "" } = environment;
    // A rename or transfer changes OWNER/NAME. Not every runner has ids.
    const repository = environment.GITHUB_REPOSITORY_ID || GITHUB_REPOSITORY || "";
    // OWNER/NAME/PATH@REF, without the ref, which differs between a pull request's branch and its merge.
    const [file = ""] = (environment.GITHUB_WORKFLOW_REF ?? "").split("@");
    const workflowFile = [repository, ...file.split("/").slice(2)].join("/");
    // Such runners count every run as 1, so that one would be taken for another.
    const isRunUnknown = GITHUB_RUN_ID === "" || environment.ACT === "true";
    this.isLasting = !isRunUnknown;
    const place = [repository, serviceOf(baseUrl), projectId];
    this.#sessionParts = session === "" ? undefined : [...place, session];
    this.step = hash(
      JSON.stringify([
        isRunUnknown ? randomUUID() : GITHUB_RUN_ID,
        serverUrl(environment),
        ...place,
        workflowFile,
        GITHUB_JOB,
        GITHUB_ACTION,
        matrixLeg,
        session,
        base,
        jobId,
        request,
      ]),
    );
  }

  /** Returns the key of a create or message. `replaces`: the request that it takes the place of. Default: none. */
  of(prompt: string, replaces?: string): IdempotencyKey {
    return { step: this.step, request: requestOf(prompt, replaces) };
  }

  /**
   * Returns the name of the step's session, in all runs of the repository; `undefined` without one.
   *
   * @param base - the branch that its jobs start from. Default: the project's own
   */
  sessionOf(base: string | undefined): string | undefined {
    return this.#sessionParts && hash(JSON.stringify([...this.#sessionParts, base ?? null]));
  }

  /** Returns the newest of the turns that was sent with a prompt; `undefined` if there is none. */
  find(prompt: string, turns: readonly SentTurn[]): SentTurn | undefined {
    const requests = new Set(turns.map(({ request }) => requestOf(prompt, request)));
    // Of a turn that was replaced, whose runner was lost, nothing may be known any more.
    for (let next = requestOf(prompt, undefined), count = 0; count < maxReplaced; count++) {
      requests.add(next);
      next = requestOf(prompt, next);
    }
    return turns.find(({ request }) => requests.has(request));
  }

  /**
   * Returns which request the next one takes the place of. It is not the newest turn's if another attempt, which did not know of that one, has
   * replaced the same request: its key would only get the end of that attempt again, or be refused.
   *
   * @param replaces - the request of the newest turn
   */
  lastOf(prompt: string, replaces: string | undefined, turns: readonly SentTurn[]): string | undefined {
    let last = replaces;
    const isOver = ({ request, status }: SentTurn): boolean => request === requestOf(prompt, last) && hasEnded(status);
    while (last !== undefined && turns.some(isOver)) last = requestOf(prompt, last);
    return last;
  }
}

/** Returns the name of a service: on this machine, by its project alone, because its port can differ between runs. */
function serviceOf(url: URL): string {
  return isLoopback(url) ? `http://localhost${url.pathname}` : url.href;
}

function requestOf(prompt: string, replaces: string | undefined): string {
  return hash(JSON.stringify([prompt, replaces ?? null]));
}
