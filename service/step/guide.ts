/**
 * Returns where a person who reads the log finds service/docs/own-agent.md: its address on github.com, or else the path in the
 * action's repository. GitHub's documentation: "Variables", `GITHUB_ACTION_REPOSITORY` and `GITHUB_ACTION_REF`.
 *
 * @param section - the anchor of a section
 */
export function guide(section: string, environment: NodeJS.ProcessEnv): string {
  const page = `service/docs/own-agent.md#${section}`;
  const { GITHUB_ACTION_REPOSITORY: repository = "", GITHUB_ACTION_REF: ref = "" } = environment;
  // Enterprise Server runs actions of github.com, and does not say whether this is one.
  const isKnown = environment.GITHUB_SERVER_URL === "https://github.com" && repository !== "" && ref !== "";
  return isKnown ? `https://github.com/${repository}/blob/${ref}/${page}` : `${page} in the action's repository`;
}
