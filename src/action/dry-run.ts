import { say, type Text } from "../runner-kit/text.ts";
import type { Wait } from "./memory/tell-of-wait.ts";
import type { Plan } from "./plan.ts";

/** Says what a dry run found out about its agent. */
const checked = say` No problem was found with the token and, as far as they can be checked, with the key and the sandbox. The agent was not installed or run.`;

/** Says that a step would wait for an earlier attempt's job. @param sendsOtherwise - whether it would send the prompt if that is of no use */
export function plannedWait(decision: Wait, sendsOtherwise: boolean): Text {
  const attempt = "attempt" in decision ? say`attempt ${decision.attempt}` : say`an earlier attempt`;
  return [
    ...say`It would wait for job ${decision.jobId}, which ${attempt} of this workflow run started.`,
    ...(sendsOtherwise ? say` If that job is of no use, it would send the prompt again.` : []),
  ];
}

/** Says what a step would send, and to which job. @param session - `undefined` in a thread */
export function plannedTask({ task, otherwise }: Plan, session: string | undefined, hasAgent: boolean): Text {
  const sent =
    task.kind === "create"
      ? say`It would create a job with this prompt.`
      : !otherwise
        ? say`It would send this prompt to job ${task.jobId} as a follow-up.`
        : session === undefined
          ? say`It would send this prompt to job ${task.jobId}, which the thread names. (A dry run does not know which replies are its own.) If the job is gone, it would create one.`
          : say`It would send this prompt to job ${task.jobId}, the last of the session ${session}, while the job is active or its pull request is open. Otherwise it would create a job.`;
  return hasAgent ? [...sent, ...checked] : sent;
}
