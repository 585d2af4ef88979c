/** Secrets of the service, which neither Git nor its helpers need. */
const secrets = ["AGENT_SERVICE_KEY", "GITHUB_TOKEN", "GH_TOKEN"];

/**
 * Variables that redirect Git to another repository or change its commits, attributes or diffs. They are set if Git itself
 * started the service, in a hook or an alias. The list is the output of `git rev-parse --local-env-vars`, and some more.
 */
const gitVariables = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_ATTR_SOURCE",
  "GIT_AUTHOR_DATE",
  "GIT_COMMITTER_DATE",
  "GIT_COMMON_DIR",
  "GIT_CONFIG",
  "GIT_CONFIG_COUNT",
  "GIT_CONFIG_PARAMETERS",
  "GIT_DIR",
  "GIT_EXTERNAL_DIFF",
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
  "GIT_TEMPLATE_DIR",
  "GIT_WORK_TREE",
];

/** Returns the environment for Git: the service's own, without its secrets and the variables of a calling Git. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  const removed = new Set([...secrets, ...gitVariables]);
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !removed.has(name)));
}
