import { HttpError, InvalidResponseError, type RequestError, TokenError } from "../../client/errors.ts";
import { capitalized, join, joinSentences, say, type Text, trusted } from "../../runner-kit/text.ts";
import { excerpt } from "../../runner-kit/untrusted.ts";
import type { Operation } from "../result.ts";
import { hasDashboard, type ResultContext } from "./advice.ts";
import { duration } from "./format.ts";

/** The rate limits are counted over an hour. Specification: "Limits". */
const hourMs = 3_600_000;

/** Why a request failed, and what to do about it. */
interface Explanation {
  what: Text;
  next: Text;
}

/** Explains why a request failed and what to do about it. */
export function explainRequestFailure(operation: Operation, error: RequestError, context: ResultContext): Explanation {
  if (error instanceof HttpError) return explainHttpError(operation, error, context);
  const address = context.settings?.baseUrl.href;
  const what = [...capitalized(failureReason(error, address)), "."];
  if (error instanceof InvalidResponseError) return { what, next: say`Check base-url.` };
  if (error instanceof TokenError) return { what, next: afterTokenError(error) };
  if (error.reason === "certificate") {
    return {
      what,
      next: say`Check base-url. If a private certificate authority signed the certificate, set the environment variable NODE_EXTRA_CA_CERTS of the step to that authority's file, or NODE_USE_SYSTEM_CA=1 if the runner's system trusts it.`,
    };
  }
  return {
    what,
    next: say`Check base-url, the runner's network and its proxy settings (https_proxy, no_proxy), then run this again.`,
  };
}

function explainHttpError(operation: Operation, error: HttpError, context: ResultContext): Explanation {
  const { settings } = context;
  const answer = [...capitalized(failureReason(error)), "."];
  const withResponse = (reason: Text) => joinSentences(reason, answer);
  const project = settings?.projectId ?? "";
  const isMintlify = hasDashboard(context);
  const usesIdToken = settings?.auth === "github-oidc";
  switch (error.status) {
    case 400:
      if (operation === "poll") return { what: answer, next: say`Check job-id and project-id.` };
      // A gateway's HTML page says nothing about the prompt.
      if (error.serviceMessage === "") {
        return { what: answer, next: say`Check base-url, and any gateway or proxy in front of the service.` };
      }
      return {
        what: withResponse(say`The service rejected the prompt.`),
        next: say`Change the prompt as the service's message says, then run this again.`,
      };
    case 401:
      if (usesIdToken)
        return { what: withResponse(say`The service does not trust this workflow run.`), next: howToTrust };
      return {
        what: withResponse(say`The service rejected the API key.`),
        next: isMintlify
          ? say`The key is wrong, deleted or expired (keys expire after 90 days by default). Create an admin key on the API keys page of the dashboard and update the secret.`
          : say`The key is wrong, deleted or expired. Update the secret with a key that the service accepts.`,
      };
    case 403:
      if (usesIdToken) return { what: withResponse(say`Access was denied.`), next: howToTrust };
      return {
        what: withResponse(
          isMintlify && error.serviceMessage !== ""
            ? say`The API key is not allowed from this IP address.`
            : say`Access was denied.`,
        ),
        next: isMintlify
          ? say`Allow the runner's address on the API keys page of the dashboard, or use a runner with a fixed address.`
          : joinSentences(
              operation === "poll" ? [] : say`A key that may only read starts nothing: use one that may start jobs.`,
              say`If the service limits addresses, allow the runner's.`,
            ),
      };
    case 404:
      return explainNotFound(operation, withResponse, project, context);
    case 413:
      return {
        what: withResponse(say`The prompt is too large for the service, or for a gateway in front of it.`),
        next: say`Make the prompt shorter: with changes, use list instead of diff, or fewer paths.`,
      };
    case 429:
      return {
        what: withResponse(say`The rate limit is exceeded: 100 jobs and 100 messages per project and hour.`),
        next: say`Run this again after ${trusted(duration(error.retryAfterMs ?? hourMs))}, and spread out the runs. With a longer timeout-minutes, the action waits until the limit allows it.`,
      };
    case 503:
      return {
        what: withResponse(say`The service is unavailable.`),
        next: say`Run this again later. With a longer timeout-minutes, the action waits for the service.`,
      };
  }
  if (error.status < 400) {
    return {
      what: withResponse(
        say`Redirects are not followed, because that would send the ${trusted(usesIdToken ? "token" : "API key")} to another address.`,
      ),
      next: say`Set base-url to the service's own URL.`,
    };
  }
  return { what: answer, next: error.serviceMessage ? say`See the service's message.` : say`Check base-url.` };
}

/** What the owner of a service has to do that rejects the OIDC token of a workflow run. */
const howToTrust = say`Its answer says what is wrong with the token. The service must trust this repository, and the ref or environment of this run (--trust, if it is the service of this project), and have the origin of base-url as its own URL (--public-url). Then run this again.`;

function afterTokenError({ isTransient }: TokenError): Text {
  return isTransient
    ? say`Check the runner's network and its proxy settings (https_proxy, no_proxy), then run this again.`
    : say`Check that the job has permissions: id-token: write, then run this again.`;
}

function explainNotFound(
  operation: Operation,
  withResponse: (reason: Text) => Text,
  project: string,
  context: ResultContext,
): Explanation {
  const { settings, state } = context;
  const what = withResponse(
    operation === "create"
      ? say`Project ${project} was not found.`
      : say`Job ${state.jobId} was not found in project ${project}.`,
  );
  if (/\/v2\/*$/.test(settings?.baseUrl.pathname ?? "")) {
    return { what, next: say`base-url ends in /v2, which the action adds itself: remove it from base-url.` };
  }
  if (operation !== "create") {
    return { what, next: say`Check job-id and project-id: a job is only found in its own project.` };
  }
  return {
    what,
    next: hasDashboard(context)
      ? say`Copy project-id from the API keys page of the dashboard, and check base-url.`
      : say`Check project-id and base-url.`,
  };
}

/** Describes a failed request in a few words, as part of a sentence. */
export function failureReason(error: RequestError, address?: string): Text {
  if (error instanceof HttpError) {
    const status = join(
      [
        say`the service answered HTTP ${error.status}`,
        error.location ? say`a redirect to ${excerpt(error.location, 300)}` : [],
        error.retryAfterMs === undefined ? [] : say`retry after ${trusted(duration(error.retryAfterMs))}`,
      ],
      ", ",
    );
    const message = error.serviceMessage.replace(/\.$/, "");
    return join([status, message ? say`${excerpt(message, 1000)}` : []], ": ");
  }
  if (error instanceof InvalidResponseError) return say`the service's response is not usable (${error.message})`;
  if (error instanceof TokenError) return say`GitHub issued no OIDC token (${error.message})`;
  const target = address ? say`${address}` : say`the service`;
  if (error.reason === "certificate") return say`the certificate of ${target} is not trusted (${error.message})`;
  if (error.phase === "connecting") return say`cannot connect to ${target} (${error.message})`;
  return say`the connection to ${target} failed while ${trusted(activities[error.phase])} (${error.message})`;
}

const activities = {
  sending: "sending the request",
  waiting: "waiting for the response",
  reading: "reading the response",
};
