/** Returns the number of the run attempt: 1 on the first run of a workflow run, more on a re-run. */
export function runAttempt({ GITHUB_RUN_ATTEMPT }: NodeJS.ProcessEnv): number {
  return Number(GITHUB_RUN_ATTEMPT ?? 1);
}

/** Returns the numbers of the run attempts before this one, the oldest first. */
export function earlierAttempts(environment: NodeJS.ProcessEnv): number[] {
  return Array.from({ length: runAttempt(environment) - 1 }, (_, index) => index + 1);
}

/** Returns the address of the runner's GitHub. */
export function serverUrl({ GITHUB_SERVER_URL }: NodeJS.ProcessEnv): string {
  return GITHUB_SERVER_URL || "https://github.com";
}

/** Returns the base address of its API. */
export function apiUrl({ GITHUB_API_URL }: NodeJS.ProcessEnv): string {
  return GITHUB_API_URL || "https://api.github.com";
}

/** Returns whether the job may request OIDC tokens: it has `permissions: id-token: write`. */
export function canRequestIdTokens(environment: NodeJS.ProcessEnv): boolean {
  return Boolean(environment.ACTIONS_ID_TOKEN_REQUEST_URL && environment.ACTIONS_ID_TOKEN_REQUEST_TOKEN);
}

/** Returns whether the runner is one of Windows. */
export function isWindows(environment: NodeJS.ProcessEnv): boolean {
  return environment.RUNNER_OS === "Windows";
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
