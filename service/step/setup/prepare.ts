import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { say } from "../../../src/runner-kit/text.ts";
import { errorMessage } from "../../src/error-message.ts";
import { checkGit as checkVersion } from "../../src/git/check-git.ts";
import type { Settings } from "../settings.ts";
import { prepareBubblewrap } from "./bubblewrap.ts";
import { installAgent } from "./install-agent.ts";
import { SetupError } from "./setup-error.ts";

export interface PrepareOptions {
  /** The service's. */
  folder: string;
  /** The step's environment variables. */
  environment: NodeJS.ProcessEnv;
  info: (line: string) => void;
  /** Ends an installation. */
  signal: AbortSignal;
}

/** How long an agent may run so that an hour's token, made shortly before, outlives its push, in milliseconds. */
const safeTokenMs = 55 * 60_000;

/**
 * Makes sure that the sandbox and the agent are there.
 *
 * @returns the `PATH` in which the agent is
 * @throws SetupError if one is missing and cannot be installed
 */
export async function prepareAgent(
  { agentPackage, agentVersion, options, install, token, isWorkflowToken, isOwnRepository }: Settings,
  { folder, environment, info, signal }: PrepareOptions,
): Promise<string | undefined> {
  const kept = isOwnRepository
    ? "is kept if the workflow's own token may write, and a re-run publishes it"
    : "cannot be pushed";
  if (token.startsWith("ghs_") && !isWorkflowToken && options.timeLimitMs > safeTokenMs)
    info(
      `\`github-token\` is a GitHub App's, which expires an hour after it was made. The agent may run for ${options.timeLimitMs / 60_000} minutes: if the token ends before, its work ${kept}. Give it less time, or make the token just before this step.`,
    );
  if (options.sandbox === "bwrap")
    await prepareBubblewrap({
      folder: join(folder, "sandbox-test"),
      canInstall: install && environment.RUNNER_ENVIRONMENT === "github-hosted",
      info,
    });
  if (agentPackage === undefined) return environment.PATH;
  return installAgent({
    agent: agentPackage,
    isAllowed: install,
    isChosen: agentVersion !== undefined,
    folder: agentFolder(folder),
    environment,
    info,
    signal,
  });
}

/** Returns the folder of an agent that was installed, beside the service's. */
export const agentFolder = (folder: string): string => `${folder}-agent`;

/**
 * Creates the folder of the service, in the folder that the runner empties after the job. It has the same path in each run:
 * agents find their sessions by it.
 */
export function createFolder({ RUNNER_TEMP, HOME }: NodeJS.ProcessEnv, projectId: string): string {
  const parent = RUNNER_TEMP || join(HOME || homedir(), ".cache");
  mkdirSync(parent, { recursive: true });
  for (let number = 1; ; number++) {
    const folder = join(parent, `agent-job-service-${projectId}${number === 1 ? "" : `-${number}`}`);
    try {
      mkdirSync(folder, { mode: 0o700 });
      return folder;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
}

/** @throws SetupError unless Git is installed in a version that the service can use */
export async function checkGit(): Promise<void> {
  await checkVersion().catch((error: unknown) => {
    throw new SetupError(
      "Git is missing or too old",
      say`${errorMessage(error)}: install it in a step before this one. Nothing was started.`,
    );
  });
}
