/** What happens with a change of protected files. */
export const protectedFilesKinds = ["flag", "refuse", "allow"] as const;

export type ProtectedFilesKind = (typeof protectedFilesKinds)[number];

/** Files that instruct agents. */
const instructionPatterns: readonly string[] = [
  ...["AGENTS.md", "AGENTS.override.md", ".agents/", ".mcp.json"],
  ...["CLAUDE.md", "CLAUDE.local.md", ".claude/", ".codex/"],
  ...["GEMINI.md", ".gemini/", ".opencode/", "opencode.json", "opencode.jsonc", ".aider*"],
  ...[".cursor/", ".cursorrules", ".github/copilot-instructions.md", ".github/instructions/"],
  ...[".github/hooks/", ".github/copilot/", ".github/skills/", ".github/agents/", ".github/prompts/"],
  ...[".github/mcp.json", ".github/lsp.json"],
  // Some agents read variables from them, such as the address of their model.
  ...[".env", ".env.*"],
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
  ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnp.cjs", ".githooks/"],
  // What builds the docs: a preview runs it before any review.
  ...["docusaurus.config.*", "astro.config.*", "mkdocs.yml", "mkdocs.yaml", "conf.py", "Makefile"],
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

/** The keys of a `package.json` or `composer.json` that say what runs, now or once it is installed. */
const programKeys =
  /^(?:scripts|.*dependencies|overrides|resolutions|pnpm|workspaces|require|require-dev|repositories)$/i;

/** Returns whether a path is a `package.json` or a `composer.json`, whose scripts and dependencies run on other machines. */
export const mayNamePrograms = (path: string): boolean => /(?:^|\/)(?:package|composer)\.json$/i.test(path);

/**
 * Returns whether two versions of such a file have other scripts or dependencies. Their order does not matter.
 *
 * @param after - default: the file is deleted
 */
export function changesPrograms(before: string | undefined, after: string | undefined): boolean {
  if (after === undefined) return false;
  const programs = programsOf(after);
  return programs === undefined || programs !== programsOf(before ?? "{}");
}

/** Returns the scripts and dependencies as text; `undefined` if the file cannot be read. */
function programsOf(text: string): string | undefined {
  try {
    const content = JSON.parse(text) as unknown;
    if (!isRecord(content)) return undefined;
    const programs = Object.entries(content).filter(([key]) => programKeys.test(key));
    if (programs.some(([key, value]) => key === "scripts" && !isRecord(value))) return undefined;
    return JSON.stringify(Object.fromEntries(programs.filter(([, value]) => !isEmpty(value))), (_key, value) =>
      isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
    );
  } catch {
    return undefined;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isEmpty = (value: unknown): boolean => isRecord(value) && Object.keys(value).length === 0;
