/** What happens with a change of protected files. */
export const protectedFilesKinds = ["flag", "refuse", "allow"] as const;

export type ProtectedFilesKind = (typeof protectedFilesKinds)[number];

/** Files that instruct agents. */
const instructionPatterns: readonly string[] = [
  ...["AGENTS.md", "AGENTS.override.md", ".agents/", ".mcp.json"],
  ...["CLAUDE.md", "CLAUDE.local.md", ".claude/", ".codex/"],
  ...["GEMINI.md", ".gemini/", ".opencode/", "opencode.json", "opencode.jsonc", ".aider*"],
  ...[".windsurf/", ".windsurfrules", ".clinerules", ".roo/", ".junie/", ".kiro/", ".continue/"],
  ...[".cursor/", ".cursorrules", ".github/copilot-instructions.md", ".github/instructions/"],
  ...[".github/hooks/", ".github/copilot/", ".github/skills/", ".github/agents/", ".github/prompts/"],
  ...[".github/mcp.json", ".github/lsp.json"],
  // Some agents read variables from them, such as the address of their model.
  ...[".env", ".env.*"],
];

/** Returns the paths whose files instruct agents. */
export const findInstructions = (paths: readonly string[]): string[] => findProtected(paths, instructionPatterns);

/** Files that a build, a deployment or an agent of people runs or follows, unless somebody reviews them. */
export const protectedPatterns: readonly string[] = [
  // CI, and who has to review.
  ...[".github/workflows/", ".github/actions/", ".gitlab-ci.yml", ".circleci/", "Jenkinsfile", "azure-pipelines.yml"],
  ...[".forgejo/", ".gitea/", ".buildkite/", ".drone.yml", ".travis.yml", ".woodpecker*", "appveyor.yml"],
  ...["bitbucket-pipelines.yml", "buildspec.yml", "cloudbuild.y*ml", "CODEOWNERS"],
  ...instructionPatterns,
  // Git, editors and package managers.
  ...[".gitmodules", ".husky/", ".pre-commit-config.yaml", "lefthook.yml", ".vscode/", ".devcontainer/", ".envrc"],
  ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnp.cjs", ".githooks/", "bunfig.toml", "nuget.config"],
  // Generators of sites, with their plugins, and other tools of a build: a preview runs them before any review.
  ...[
    "*.config.*s",
    "*.config.json",
    "mkdocs.y*ml",
    "conf.py",
    "_config*.y*ml",
    "_plugins/",
    "sidebars.*s",
    "gatsby-*.*s",
    ".eleventy.*",
  ],
  ...[
    ".vitepress/",
    ".vuepress/",
    "hugo.toml",
    "hugo.y*ml",
    "hugo.json",
    "book.toml",
    "_quarto*.yml",
    "antora*.yml",
    ".readthedocs.y*ml",
  ],
  ...[
    ".babelrc*",
    ".eslintrc*",
    ".prettierrc*",
    ".postcssrc*",
    "turbo.json",
    "nx.json",
    "lerna.json",
    "tsconfig*.json",
  ],
  ...[
    "Makefile",
    "GNUmakefile",
    "*.mk",
    "CMakeLists.txt",
    "justfile",
    "Taskfile.y*ml",
    "Rakefile",
    "noxfile.py",
    "tox.ini",
  ],
  ...[
    "setup.py",
    "setup.cfg",
    "build.rs",
    "*.gradle",
    "*.gradle.kts",
    "gradlew*",
    "gradle-wrapper.*",
    ".mvn/",
    "mvnw*",
  ],
  ...["*.bazel", "Directory.Build.*", "*.nix"],
  // Deployments.
  ...[
    "netlify.toml",
    "vercel.json",
    "vercel.ts",
    "wrangler.toml",
    "wrangler.json*",
    "firebase.json",
    ".firebaserc",
    "fly.toml",
    "render.yaml",
    "app.yaml",
  ],
  ...["amplify.yml", "Procfile", "_headers", "_redirects", "CNAME", "Dockerfile*", "*.Dockerfile", "Containerfile*"],
  ...["compose.y*ml", "docker-compose*.y*ml"],
  // Dependencies.
  ...["*.lock", "*.lockb", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "pnpm-workspace.yaml"],
  ...["deno.json*", "requirements*.txt", "constraints*.txt", "pyproject.toml", "Pipfile", "environment.y*ml"],
  ...["Gemfile", "*.gemspec", "go.mod", "go.sum", "go.work*", "Cargo.toml", "mix.exs", "pom.xml", "*.csproj"],
  ...["packages.lock.json", "Package.swift", "Package.resolved", "Podfile", "pubspec.yaml"],
];

/** Files that run nothing, by their names. */
const harmless = /\.(?:md|markdown|mdx|rst|adoc|asciidoc|png|jpe?g|gif|webp|avif|ico)$/i;

/** Returns whether a file is a text or a picture, by its name. */
export const isHarmless = (path: string): boolean => harmless.test(path);

/** What a build runs in a page, or takes into it from elsewhere. */
interface PageCode {
  /** The names of its pages. */
  pages: RegExp;
  /** The files of its generator, one of which the tree has. Default: they are not needed. */
  generator?: readonly string[];
  /** What one of these files says. Default: anything. */
  says?: RegExp;
  find: (text: string) => readonly string[];
}

const markdown = /\.(?:md|markdown)$/i;
const matches =
  (pattern: RegExp) =>
  (text: string): readonly string[] =>
    text.match(pattern) ?? [];

/** By the documentation of each generator. Their own files are protected. */
const pageCode: readonly PageCode[] = [
  { pages: /\.mdx$/i, find: mdxCode },
  // Docusaurus: "MDX vs. CommonMark".
  { pages: markdown, generator: ["docusaurus.config.*", "rspress.config.*"], find: mdxCode },
  { pages: markdown, generator: [".vitepress/", ".vuepress/"], find: vueCode },
  // Plugins that run templates.
  {
    ...{ pages: markdown, generator: ["mkdocs.y*ml", "zensical.toml"], says: /macros|include|jinja|exec|render/i },
    find: matches(/\{[{%!].*/g),
  },
  {
    ...{ pages: markdown, generator: [".eleventy.*", "eleventy.config.*"] },
    find: matches(/\{[{%].*|^(?:templateEngineOverride|eleventyComputed)\b.*/gm),
  },
  { pages: /\.ipynb$/i, find: matches(/.*\S.*/g) },
  {
    pages: /\.(?:mdx?|markdown|rst|adoc|asciidoc|qmd|rmd)$/i,
    find: matches(
      new RegExp(
        [
          // Front matter in a language: gray-matter runs it.
          /(?<![\s\S])\ufeff?---[ \t]*(?!(?:ya?ml|json|toml)\s*$)[a-z][\s\S]*?(?:^---|$(?![\s\S]))/,
          // Sphinx, with what an executed directive has.
          /^[ \t]*\.\.[ \t]+(?:\|[^|\n]*\|[ \t]+)?(?:(?:literal)?include|raw|csv-table|ifconfig|exec|plot|ipython|(?:program|command)-output|jupyter-\w+|execute_code)::.*(?:\n+[ \t]+.*)*/,
          /^[ \t]*:(?:file|url):.*/,
          // MyST, Quarto and markdown-exec.
          /(?:(?<![`~:])[`~:]{3,}[ \t]*\{(?:(?:literal)?include|raw|csv-table|code-cell|eval-rst|embed|exec|plot|jupyter-\w+|python|r|julia|ojs|bash|sh|sql|node)\b|^[^`~\n]*(?:`{3}|~{3}).*\bexec=)[\s\S]*?(?:^[ \t>]*[`~:]{3,}|$(?![\s\S]))/,
          /(?<!`)`?\{(?:python|r|julia|ojs|eval)\}[ `].*/,
          // AsciiDoc and PlantUML.
          /^[ \t]*(?:include::|!include).*|%(?:getenv|load_json)\b.*/,
          // Snippets of Python Markdown, VitePress and VuePress, mdBook, and shortcodes.
          /-8<-.*|<!--\s*@?include.*|^[ \t]*<<<[ \t]*[^<\s].*|@\[code.*|@include\(.*/,
          /\{\{\s*#\w*(?:include|playground).*|\{\{[<%][\s-]*\w*(?:include|embed|read|import|env|exec).*/,
          // A file that no page needs.
          /\.\.[/\\](?:\S{0,300}[/\\])?(?:proc[/\\](?:self|thread-self|\d)|\.(?:git|ssh|docker)[/\\]).*/,
        ]
          .map(({ source }) => source)
          .join("|"),
        "gim",
      ),
    ),
  },
];

/** Returns whether a path is a page that can have code. */
export const mayHaveCode = (path: string): boolean => pageCode.some(({ pages }) => pages.test(path));

/**
 * Returns a function that tells whether a page has code of a tree's generators that it did not have.
 *
 * @param say - returns whether one of the files may say something
 */
export async function readPageCode(
  paths: readonly string[],
  say: (files: readonly string[], what: RegExp) => Promise<boolean>,
): Promise<(before: string | undefined, after: string | undefined, path: string) => boolean> {
  const found: PageCode[] = [];
  for (const one of pageCode) {
    const { generator, says } = one;
    const files = generator && findProtected(paths, generator);
    if (files?.length !== 0 && (!files || !says || (await say(files, says)))) found.push(one);
  }
  return (before, after, path) => addsCode(path, before, after, found);
}

/** In characters. A longer line is no prose, and some patterns would take too long in it. */
const maxLineLength = 10_000;

/** Returns whether a page has code, or a line too long to search, that it did not have. */
export function addsCode(path: string, before = "", after = "", among: readonly PageCode[] = pageCode): boolean {
  const ofPath = among.filter(({ pages }) => pages.test(path));
  const linesOf = (text: string, isLong: boolean): string[] =>
    text.split("\n").filter(({ length }) => length > maxLineLength === isLong);
  const knownLong = new Set(linesOf(before, true));
  if (ofPath.length > 0 && linesOf(after, true).some((line) => !knownLong.has(line))) return true;
  const [short, changed] = [before, after].map((text) => linesOf(text, false).join("\n"));
  return ofPath.some(({ find }) => {
    const known = new Set(find(short ?? ""));
    return find(changed ?? "").some((code) => !known.has(code));
  });
}

const withoutFrontMatter = (text: string): string => text.replace(/^---\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/, "");

/**
 * Returns the imports, exports and expressions of a page, outside of its front matter and blocks of code. Code within a line counts, and so
 * do tags over several lines: what they hide cannot be told without parsing MDX.
 */
function mdxCode(text: string): string[] {
  const page = outsideBlocks(withoutFrontMatter(text));
  const openTag = /<[a-z](?:[^>"'\n]|"[^"\n]*"|'[^'\n]*')*(?:["'][^\n]*)?$/gim;
  const inLines = /^\s*(?:import|export)\b.*$|\{(?!#[\w-]+\})[^}]*\}?/gm;
  return [...(page.match(inLines) ?? []), ...(page.match(openTag) ?? [])];
}

/** Returns the scripts, expressions and bound attributes of a page that is a Vue component. */
function vueCode(text: string): readonly string[] {
  const page = outsideBlocks(withoutFrontMatter(text), true);
  return page.match(/<script\b[\s\S]*?(?:<\/script|$(?![\s\S]))|\{\{[^}]*|[\s"'/](?:v-|[:@#])[^\s=<>]*=.*/gim) ?? [];
}

/**
 * Returns a page without its blocks of code; as it is, if one may begin or end elsewhere than it seems.
 *
 * @param isHtml - whether tags and comments can hide where a block begins, and a block can have expressions
 */
function outsideBlocks(text: string, isHtml = false): string {
  const kept: string[] = [];
  let fence: { indent: string; mark: string } | undefined;
  let hasTag = false;
  for (const line of text.split("\n")) {
    const [, indent = "", mark = "", info = ""] = /^([ \t]*)(`{3,}|~{3,})(.*)$/s.exec(line) ?? [];
    const isBare = mark !== "" && info.trim() === "";
    if (fence !== undefined) {
      const isEnd = isBare && mark.startsWith(fence.mark);
      if (isEnd ? indent !== fence.indent : line.trim() !== "" && !line.startsWith(fence.indent)) return text;
      if (isEnd) fence = undefined;
    } else if (mark !== "" && !(mark.startsWith("`") && info.includes("`"))) {
      if (/\t| {4}/.test(indent) || (isHtml && (hasTag || /-vue\b|no-v-pre/.test(info)))) return text;
      fence = { indent, mark };
      hasTag = false;
    } else {
      if (/^[ \t]*(?:[-*+>]|\d+[.)]).*(?:```|~~~)/.test(line)) return text;
      if (isHtml && /<(?:!|\?|pre\b|script\b|style\b|textarea\b)/i.test(line)) return text;
      hasTag = line.trim() !== "" && (hasTag || line.includes("<"));
      kept.push(line);
    }
  }
  return fence === undefined ? kept.join("\n") : text;
}

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

/** The keys of a `package.json` or `composer.json` that name neither a program nor an address. */
const harmlessKeys =
  /^(?:name|version|description|keywords|author|authors|contributors|license|private|files|engines)$/;

/** Returns whether a path is a `package.json` or a `composer.json`, which says what runs on other machines. */
export const mayNamePrograms = (path: string): boolean => /(?:^|\/)(?:package|composer)\.json$/i.test(path);

/**
 * Returns whether two versions of such a file name other programs or addresses, such as scripts and dependencies. Their order does not matter.
 *
 * @param after - default: the file is deleted
 */
export function changesPrograms(before: string | undefined, after: string | undefined): boolean {
  if (after === undefined) return false;
  const programs = programsOf(after);
  return programs === undefined || programs !== programsOf(before ?? "{}");
}

/** Returns the parts that name programs or addresses, as text; `undefined` if the file cannot be read. */
function programsOf(text: string): string | undefined {
  try {
    const content = JSON.parse(text) as unknown;
    if (!isRecord(content)) return undefined;
    const programs = Object.entries(content).filter(([key]) => !harmlessKeys.test(key));
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
