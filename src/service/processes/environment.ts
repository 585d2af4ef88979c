/** The variables of the service that are its own: neither an agent nor what Git runs has any business with them. */
const secrets = ["AGENT_SERVICE_KEY", "GITHUB_TOKEN", "GH_TOKEN"];

/**
 * What would make Git work on another repository than the one it is told, as it is set where Git itself has started the
 * service, in a hook or an alias: `git rev-parse --local-env-vars`, and the dates of commits.
 */
const ofAnotherRepository = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_AUTHOR_DATE",
  "GIT_COMMITTER_DATE",
  "GIT_COMMON_DIR",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_PARAMETERS",
  "GIT_DIR",
  "GIT_GRAFT_FILE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_NAMESPACE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_OBJECT_DIRECTORY",
  "GIT_PREFIX",
  "GIT_REPLACE_REF_BASE",
  "GIT_SHALLOW_FILE",
  "GIT_WORK_TREE",
];

/** The environment of the service as it is handed on to Git and to agents. */
export function handedOnEnvironment(): NodeJS.ProcessEnv {
  const withheld = new Set([...secrets, ...ofAnotherRepository]);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !withheld.has(name)));
}
