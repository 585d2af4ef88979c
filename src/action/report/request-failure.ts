import { MalformedAnswerError, RefusalError, type RequestError } from "../../client/errors.ts";
import type { Settings, Task } from "../inputs/schema.ts";
import type { Operation } from "../outcome.ts";
import type { Facts } from "../run-state.ts";
import { duration } from "./format.ts";
import { capitalised, join, own, say, type Text } from "./text.ts";
import { excerpt } from "./untrusted.ts";

/** What the messages speak of; `undefined` settings were refused. */
export interface Context {
  settings: Pick<Settings, "projectId" | "baseUrl" | "timeoutMs"> | undefined;
  /** What the step came to do, where it came to that. */
  task: Task | undefined;
  facts: Facts;
}

/** A request that failed, in words for people. */
interface Explanation {
  what: Text;
  /** What to do about it. */
  next: Text;
}

/** Why a request failed and what to do about it. */
export function describeRequestError(operation: Operation, error: RequestError, context: Context): Explanation {
  if (error instanceof RefusalError) return describeRefusal(operation, error, context);
  const address = context.settings?.baseUrl.href;
  const what = [...capitalised(describeFault(error, address)), "."];
  if (error instanceof MalformedAnswerError) return { what, next: say`Check base-url.` };
  if (error.reason === "certificate") {
    return {
      what,
      next: say`Check base-url. If a private authority signed the certificate, name that authority's file in the environment variable NODE_EXTRA_CA_CERTS of the step.`,
    };
  }
  return {
    what,
    next: say`Check base-url, the runner's network and its proxy settings (https_proxy, no_proxy), then run again.`,
  };
}

function describeRefusal(operation: Operation, error: RefusalError, { settings, facts }: Context): Explanation {
  const fault = [...capitalised(describeFault(error)), "."];
  const because = (reason: Text) => join([reason, fault], " ");
  const project = settings?.projectId ?? "";
  switch (error.status) {
    case 400:
      if (operation === "poll") return { what: fault, next: say`Check job-id and project-id.` };
      return {
        what: because(say`The service refused the prompt.`),
        next: say`Change the prompt as the service's message says, then run again.`,
      };
    case 401:
      return {
        what: because(say`The service does not accept the API key.`),
        next: say`The key is wrong, deleted or expired (a key lives 90 days by default). Create an admin key on the API keys page of the dashboard and update the secret.`,
      };
    case 403:
      return {
        what: because(say`The API key may not be used from here.`),
        next: say`A key can be bound to IP addresses: allow the runner's address on the API keys page of the dashboard, or use a runner with a fixed address.`,
      };
    case 404:
      if (operation === "create") {
        return {
          what: because(say`The service knows no project ${project}.`),
          next: say`Copy project-id from the API keys page of the dashboard, and check base-url.`,
        };
      }
      return {
        what: because(say`The service knows no job ${facts.jobId} in project ${project}.`),
        next: say`Check job-id and project-id: a job is found in its own project alone.`,
      };
    case 429:
      return {
        what: because(say`The rate limit is reached: 100 jobs and 100 messages per project and hour.`),
        next: say`Run again when the hour has passed, and spread out the runs. With a longer timeout-minutes the action waits for its turn.`,
      };
    case 503:
      return {
        what: because(say`The service is not available for now.`),
        next: say`Run again later. With a longer timeout-minutes the action waits for it.`,
      };
  }
  if (error.status < 400) {
    return {
      what: because(say`Redirects are not followed, since they would hand on the API key.`),
      next: say`Correct base-url.`,
    };
  }
  return { what: fault, next: say`Check the inputs against the service's answer.` };
}

/** A fault in a few words, as part of a sentence. */
export function describeFault(error: RequestError, address?: string): Text {
  if (error instanceof RefusalError) {
    const words = error.serviceMessage.replace(/\.$/, "");
    return join(
      [
        join(
          [
            say`the service answered HTTP ${error.status}`,
            error.location ? say`a redirect to ${excerpt(error.location, 300)}` : [],
            error.retryAfterMs === undefined ? [] : say`to be tried again after ${own(duration(error.retryAfterMs))}`,
          ],
          ", ",
        ),
        words ? say`${excerpt(words, 1000)}` : [],
      ],
      ": ",
    );
  }
  if (error instanceof MalformedAnswerError) return say`the service's answer cannot be used (${error.message})`;
  const target = address ? say`${address}` : say`the service`;
  if (error.reason === "certificate") return say`the certificate of ${target} is not trusted (${error.message})`;
  if (error.phase === "connecting") return say`no connection to ${target} could be made (${error.message})`;
  return say`the connection to ${target} broke while ${own(doings[error.phase])} (${error.message})`;
}

const doings = {
  sending: "the request was being sent",
  waiting: "its answer was awaited",
  reading: "its answer was being read",
};
