/** What happens with a change of protected files. */
export const protectedFilesKinds = ["flag", "refuse", "allow"] as const;

export type ProtectedFilesKind = (typeof protectedFilesKinds)[number];

/** Files that instruct agents. */
const instructionPatterns: readonly string[] = [
  ...["AGENTS.md", "AGENTS.override.md", ".agents/", ".mcp.json"],
  ...["CLAUDE.md", "CLAUDE.local.md", ".claude/", ".codex/"],
  ...["GEMINI.md", ".gemini/", ".opencode/", "opencode.json", "opencode.jsonc", ".aider*"],
  ...[".cursor/", ".cursorrules", ".github/copilot-instructions.md", ".github/instructions/"],
];

/** Returns those of some paths whose files instruct agents. */
export const findInstructions = (paths: readonly string[]): string[] => findProtected(paths, instructionPatterns);

/** Files that run code without anybody starting it, or that instruct the agents of people, unless somebody reviews them. */
export const protectedPatterns: readonly string[] = [
  // CI, and who has to review.
  ...[".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".circleci/", "Jenkinsfile", "azure-pipelines.yml"],
  "CODEOWNERS",
  ...instructionPatterns,
  // Git, editors and package managers.
  ...[".gitmodules", ".husky/", ".pre-commit-config.yaml", "lefthook.yml", ".vscode/", ".devcontainer/", ".envrc"],
  ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnp.cjs"],
];

/**
 * Returns the paths that match a pattern. A pattern with a `/` before its end is about a path from the top, others are about a
 * name in any folder. `*` stands for any part of a name. All that is in a folder that matches does, too, and so does what takes
 * the place of a folder on the way. Case does not matter, because it does not on many machines that the files get to.
 */
export function findProtected(paths: readonly string[], patterns: readonly string[]): string[] {
  const parsed = patterns.map((pattern) => ({
    isAnchored: /\/./.test(pattern),
    names: pattern.toLowerCase().split("/").filter(Boolean),
  }));
  return paths.filter((path) => {
    const names = path.toLowerCase().split("/");
    return parsed.some((pattern) =>
      pattern.isAnchored
        ? // A shorter path is a file or a link in place of a folder.
          pattern.names.every((name, index) => index >= names.length || isMatch(names[index] ?? "", name))
        : names.some((name) => isMatch(name, pattern.names[0] ?? "")),
    );
  });
}

/** In time linear in the name for each `*`. */
function isMatch(name: string, pattern: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop();
  if (last === undefined) return name === pattern;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let position = first.length;
  for (const part of others) {
    const found = name.indexOf(part, position);
    if (found < 0) return false;
    position = found + part.length;
  }
  return position + last.length <= name.length;
}

/** Scripts that package managers run on their own, when somebody installs or publishes. */
const installScripts =
  /^(?:pre|post)?(?:install|uninstall|prepare|pack|publish)$|^(?:prepublishOnly|dependencies|postpublish|pre-install-cmd|post-install-cmd|post-update-cmd|pre-update-cmd|post-autoload-dump)$/;

/** Returns whether a path is a `package.json` or a `composer.json`, whose scripts can run when somebody installs it. */
export const mayHaveInstallScripts = (path: string): boolean => /(?:^|\/)(?:package|composer)\.json$/i.test(path);

/**
 * Returns whether two versions of such a file run different programs when somebody installs it.
 *
 * @param after - default: the file is deleted
 */
export function changesInstallScripts(before: string | undefined, after: string | undefined): boolean {
  if (after === undefined) return false;
  const scripts = scriptsOf(after);
  return scripts === undefined || scripts !== scriptsOf(before ?? "{}");
}

/** Returns the scripts as text; `undefined` if the file cannot be read. */
function scriptsOf(text: string): string | undefined {
  try {
    const { scripts } = JSON.parse(text) as { scripts?: unknown };
    if (scripts === undefined) return "[]";
    if (typeof scripts !== "object" || scripts === null) return undefined;
    return JSON.stringify(
      Object.entries(scripts)
        .filter(([name]) => installScripts.test(name))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  } catch {
    return undefined;
  }
}
