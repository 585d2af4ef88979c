import { mkdirSync } from "node:fs";
import { say, trusted } from "../../../src/runner-kit/text.ts";
import { bubblewrap } from "../../src/agents/sandbox/bubblewrap.ts";
import { probe } from "../../src/agents/sandbox/probe.ts";
import { errorMessage } from "../../src/error-message.ts";
import { runProgram } from "./programs.ts";
import { SetupError } from "./setup-error.ts";

export interface BubblewrapOptions {
  /** An existing folder for the test run. */
  folder: string;
  /** Whether the step may change the runner: on a machine of GitHub's, which no other job will use. */
  canInstall: boolean;
  info: (line: string) => void;
}

/**
 * Makes sure that bubblewrap can create a sandbox.
 *
 * @throws SetupError if it cannot, with the two ways out
 */
export async function prepareBubblewrap({ folder, canInstall, info }: BubblewrapOptions): Promise<void> {
  const test = () => testBubblewrap(folder);
  let error = await test();
  for (const step of canInstall ? [installPackage, allowUserNamespaces] : []) {
    if (error === undefined) return;
    // What fails here is told by the next test.
    await step(info).catch((reason: unknown) => info(errorMessage(reason)));
    error = await test();
  }
  if (error === undefined) return;
  const isMissing = /ENOENT/.test(error);
  const way = isMissing
    ? "install it in a step before this one: `sudo apt-get install bubblewrap`"
    : "allow it user namespaces: on Ubuntu 24.04 and newer with the AppArmor profile in service/docs/agents.md, in a container in the settings of its runtime";
  throw new SetupError(
    "No sandbox for the agent",
    say`bubblewrap cannot run on this runner: ${isMissing ? trusted("it is not installed") : error}. There are two ways out. Either ${trusted(way)}. Or, without \`setup\`, \`check\` and the workflow's own token for Copilot, set \`--sandbox none\` and \`--agent-network full\` in \`agent-options\`: then the agent can do what the runner's user can, such as read the token. Nothing was started.`,
  );
}

/** Returns why bubblewrap cannot run; `undefined` if it can. */
function testBubblewrap(directory: string): Promise<string | undefined> {
  mkdirSync(directory, { recursive: true });
  const access = {
    currentDirectory: directory,
    writable: [directory],
    readable: [],
    hasNetwork: false,
    temporary: directory,
  };
  return probe(bubblewrap.wrap({ file: "/bin/sh", args: ["-c", "exit 0"] }, access));
}

async function installPackage(info: (line: string) => void): Promise<void> {
  if ((await probe({ file: "bwrap", args: ["--version"] })) === undefined) return;
  info("Installing bubblewrap");
  const install = () => sudo(["apt-get", "install", "--yes", "--no-install-recommends", "bubblewrap"]);
  await install().catch(async () => {
    await sudo(["apt-get", "update"]);
    await install();
  });
}

/** Turns off what denies user namespaces to programs without an AppArmor profile since Ubuntu 24.04. */
async function allowUserNamespaces(info: (line: string) => void): Promise<void> {
  info("Allowing user namespaces to programs without an AppArmor profile, for bubblewrap");
  await sudo(["sysctl", "-w", "kernel.apparmor_restrict_unprivileged_userns=0"]);
}

/** Fails if that needs a password. */
function sudo(command: readonly string[]): Promise<void> {
  return runProgram("sudo", ["--non-interactive", ...command]);
}
