import { existsSync, readFileSync } from "node:fs";

/** Returns the number of the run attempt: 1 on the first run of a workflow run, more on a re-run. */
export function runAttempt({ GITHUB_RUN_ATTEMPT }: NodeJS.ProcessEnv): number {
  return Number(GITHUB_RUN_ATTEMPT ?? 1);
}

/** Returns the address of the runner's GitHub. */
export function serverUrl({ GITHUB_SERVER_URL }: NodeJS.ProcessEnv): string {
  return GITHUB_SERVER_URL || "https://github.com";
}

/** Returns the repository of the run; its parts are empty if the runner does not name one. */
export function ownRepository({ GITHUB_REPOSITORY = "" }: NodeJS.ProcessEnv): { owner: string; repo: string } {
  const [owner = "", repo = ""] = GITHUB_REPOSITORY.split("/");
  return { owner, repo };
}

/** Returns whether the job may request OIDC tokens: it has `permissions: id-token: write`. */
export function canRequestIdTokens(environment: NodeJS.ProcessEnv): boolean {
  return Boolean(environment.ACTIONS_ID_TOKEN_REQUEST_URL && environment.ACTIONS_ID_TOKEN_REQUEST_TOKEN);
}

/** Returns the address of the workflow run. */
export function runUrl(environment: NodeJS.ProcessEnv): string {
  const { GITHUB_REPOSITORY: repository = "", GITHUB_RUN_ID: run = "" } = environment;
  return `${serverUrl(environment)}/${repository}/actions/runs/${run}`;
}

/** Returns whether the run is on a tag, as for the event `release`. GitHub's documentation: "Variables", `GITHUB_REF`. */
export function isOnTag({ GITHUB_REF = "" }: NodeJS.ProcessEnv): boolean {
  return GITHUB_REF.startsWith("refs/tags/");
}

/** Reads the payload of the event that triggered the workflow. */
export function readEvent({ GITHUB_EVENT_PATH = "" }: NodeJS.ProcessEnv): unknown {
  return JSON.parse(readFileSync(GITHUB_EVENT_PATH, "utf8"));
}

/** Returns the file of certificates that Node ignores because it does not exist. Node: "NODE_EXTRA_CA_CERTS". */
export function missingCertificates({ NODE_EXTRA_CA_CERTS: file = "" }: NodeJS.ProcessEnv): string | undefined {
  return file === "" || existsSync(file) ? undefined : file;
}

/**
 * Returns the `User-Agent` of requests to the service: with the version and the address of the action, as the workflow names them. A local
 * action has none.
 */
export function userAgent(environment: NodeJS.ProcessEnv): string {
  const { GITHUB_ACTION_REPOSITORY: repository = "", GITHUB_ACTION_REF: ref = "" } = environment;
  if (!/^[\w.-]+\/[\w.-]+$/.test(repository) || ref === "") return "agent-job-action";
  return `agent-job-action/${ref.replace(/[^\w.-]/g, "-")} (+${serverUrl(environment)}/${repository})`;
}
