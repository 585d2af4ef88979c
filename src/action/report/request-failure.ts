import { HttpError, InvalidResponseError, type RequestError, TokenError } from "../../client/errors.ts";
import { capitalized, join, joinSentences, say, type Text, trusted } from "../../runner-kit/text.ts";
import { excerpt } from "../../runner-kit/untrusted.ts";
import type { Operation } from "../result.ts";
import { duration } from "./format.ts";
import { addressOf, hasDashboard, type ResultContext } from "./message.ts";

/** The rate limits are counted over an hour. Specification: "Limits". */
const hourMs = 3_600_000;

/** Explains why a request failed and what to do about it. */
export function explainRequestFailure(
  operation: Operation,
  error: RequestError,
  context: ResultContext,
): { what: Text; next: Text } {
  const failure = [...capitalized(failureReason(error, addressOf(context.settings))), "."];
  if (context.settings?.agent) {
    const log = isNotFound(operation, error)
      ? say`Job ${context.state.jobId} was not found. Check job-id: a run knows the jobs of the same agent, repository and --name, by their branch, their pull request or the Actions cache. To start a new job, remove job-id.`
      : say`See the log of the agent's service. If it does not say why, run this again.`;
    const input = say`Change that, and start a new run: a re-run keeps this run's workflow file.`;
    return { what: failure, next: error instanceof HttpError && error.status === 400 ? input : log };
  }
  const [reason, next] =
    error instanceof HttpError ? adviceOnAnswer(operation, error, context) : [[], adviceOnFailure(operation, error)];
  return { what: joinSentences(reason, failure), next };
}

function adviceOnFailure(operation: Operation, error: Exclude<RequestError, HttpError>): Text {
  if (error instanceof InvalidResponseError) return say`Check base-url.`;
  const checkNetwork = say`the runner's network and its proxy settings (https_proxy, no_proxy)${trusted(thenAgain(operation))}.`;
  if (error instanceof TokenError)
    return error.isTransient
      ? say`Check ${checkNetwork}`
      : say`Check that the job has permissions: id-token: write. If not, add it and start a new run: a re-run keeps this run's workflow file.`;
  return error.reason === "certificate"
    ? say`Check base-url. If a private certificate authority signed the certificate, set the environment variable NODE_EXTRA_CA_CERTS of the step to that authority's file, or NODE_USE_SYSTEM_CA=1 if the runner's system trusts it.`
    : say`Check base-url, ${checkNetwork}`;
}

/** Returns the meaning of the service's answer, if that is more than it says, and what to do about it. */
function adviceOnAnswer(
  operation: Operation,
  { status, serviceMessage, isOfService, retryAfterMs }: HttpError,
  context: ResultContext,
): [reason: Text, next: Text] {
  const isMintlify = hasDashboard(context);
  const usesIdToken = context.settings?.auth === "github-oidc";
  switch (status) {
    case 400:
      if (operation === "poll") return [[], say`Check job-id and project-id.`];
      // A gateway's HTML page says nothing about the prompt.
      if (serviceMessage === "") return [[], say`Check base-url, and any gateway or proxy in front of the service.`];
      return [
        say`The service rejected the request.`,
        say`Change what the service's message names, then start a new run.`,
      ];
    case 401:
      if (usesIdToken) return [say`The service does not trust this workflow run.`, howToTrust(operation)];
      return [
        say`The service rejected the API key.`,
        isMintlify
          ? say`The key is wrong, deleted or expired (keys expire after 90 days by default). Create an admin key on the API keys page of the dashboard and update the secret.`
          : say`The key is wrong, deleted or expired. Update the secret with a key that the service accepts.`,
      ];
    case 403:
      if (/^error code: 1\d{3}$/.test(serviceMessage))
        return [
          say`Cloudflare, in front of the service, blocked the request: no key was looked at.`,
          say`Let the service's owner allow the runner's address and the User-Agent agent-job-action.`,
        ];
      if (usesIdToken) return [say`Access was denied.`, howToTrust(operation)];
      if (isMintlify)
        return [
          serviceMessage === "" ? say`Access was denied.` : say`The API key is not allowed from this IP address.`,
          say`Allow the runner's address on the API keys page of the dashboard, or use a runner with a fixed address.`,
        ];
      return [
        say`Access was denied.`,
        joinSentences(
          operation === "poll" ? [] : say`A key that may only read starts nothing: use one that may start jobs.`,
          say`If the service limits addresses, allow the runner's.`,
        ),
      ];
    case 404:
      return adviceOnNotFound(operation, isOfService === true, context);
    case 413:
      return [
        say`The prompt is too large for the service, or for a gateway in front of it.`,
        say`Make the prompt shorter: with changes, use list instead of diff, or fewer paths.`,
      ];
    case 429:
      return [
        say`The rate limit is exceeded: 100 jobs and 100 messages per project and hour.`,
        say`Run this again after ${trusted(duration(retryAfterMs ?? hourMs))}, and spread out the runs. With a longer timeout-minutes, the action waits until the limit allows it.`,
      ];
    case 503:
      return [
        say`The service is unavailable.`,
        say`Run this again later. With a longer timeout-minutes, the action waits for the service.`,
      ];
  }
  if (status < 400) {
    const secret = trusted(usesIdToken ? "token" : "API key");
    return [
      say`Redirects are not followed, because that would send the ${secret} to another address.`,
      say`Set base-url to the service's own URL.`,
    ];
  }
  return [[], serviceMessage ? say`See the service's message.` : say`Check base-url.`];
}

/** Returns whether the service itself says that there is no such job. */
export const isNotFound = (operation: Operation, error: RequestError): boolean =>
  operation !== "create" && error instanceof HttpError && error.status === 404 && error.isOfService === true;

function adviceOnNotFound(
  operation: Operation,
  isOfService: boolean,
  context: ResultContext,
): [reason: Text, next: Text] {
  const { settings, state } = context;
  const project = settings?.projectId ?? "";
  const isCreate = operation === "create";
  const reason = isCreate
    ? say`Project ${project} was not found.`
    : say`Job ${state.jobId} was not found in project ${project}.`;
  if (/\/v2\/*$/.test(settings?.baseUrl.pathname ?? ""))
    return [reason, say`base-url ends in /v2, which the action adds itself: remove it from base-url.`];
  if (!isCreate && !isOfService) return [[], say`Check base-url, and any gateway or proxy in front of the service.`];
  if (!isCreate) return [reason, say`Check job-id and project-id: a job is only found in its own project.`];
  const where = say`Copy project-id from the API keys page of the dashboard, and check base-url.`;
  return [reason, hasDashboard(context) ? where : say`Check project-id and base-url.`];
}

/** What the owner of a service has to do that rejects the OIDC token of a workflow run. */
const howToTrust = (operation: Operation): Text =>
  say`Its answer says what is wrong with the token. The service must trust this repository, and the ref or environment of this run (--trust, if it is the service of this project), and have the origin of base-url as its own URL (--public-url)${trusted(thenAgain(operation))}.`;

/** Nothing is run again because of a job that may be running. A changed workflow file has no effect on a re-run. */
const thenAgain = (operation: Operation): string =>
  operation === "poll" ? "" : ". Then run this again, as a new run if you have changed the workflow file";

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
