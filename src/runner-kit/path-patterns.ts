/** Which files patterns match. */
export interface PathPatterns {
  patterns: readonly string[];
  /** @param path - from the top of the repository, without a `/` before it */
  matches(path: string): boolean;
  /** Returns the patterns that match none of some paths. */
  unused(paths: readonly string[]): string[];
  /** Returns the patterns that match files in a folder. One that begins with a wildcard is about no certain folder. */
  into(folder: string): string[];
}

/** A pattern that cannot be read, and why, as what follows it in a sentence. */
export class PatternError extends Error {
  readonly index: number;

  constructor(index: number, problem: string) {
    super(problem);
    this.index = index;
  }
}

/** Mistakes by which a pattern matches no file, and what they are, as what follows it in a sentence. */
export const mistakes: readonly (readonly [RegExp, string])[] = [
  [/^- /, "begins with the dash of a list"],
  [/^["'`]|["'`]$/, "has quotation marks"],
  [/(?:^|\/)\.\.(?:\/|$)/, "has .. in it, as no path does"],
  [/,\s*[^,]*[*/]/, "has a comma: write one pattern in each line"],
  [/\\[a-z\d]/i, "has a backslash between folders: write /"],
];

/**
 * Reads patterns with the meaning of GitHub's `on.push.paths`: the last one that matches a path decides, and one that begins with `!` excludes
 * it. The usual libraries differ in `?`, `+` and `**.js`. GitHub's documentation: "Filter pattern cheat sheet". One that ends with `/`, which
 * matches no file there, is for all in that folder.
 *
 * @throws PatternError
 */
export function readPatterns(patterns: readonly string[]): PathPatterns {
  const rules = patterns.map((pattern, index) => {
    const isNegative = pattern.startsWith("!");
    const path = isNegative ? pattern.slice(1) : pattern;
    try {
      return { pattern, isNegative, expression: toRegExp(path.endsWith("/") ? `${path}**` : path) };
    } catch (error) {
      throw new PatternError(index, error instanceof Error ? error.message : String(error));
    }
  });
  if (rules.every(({ isNegative }) => isNegative))
    throw new PatternError(0, "only excludes files; add a pattern without ! before it, such as **");
  const matches = (path: string): boolean =>
    rules.findLast(({ expression }) => expression.test(path))?.isNegative === false;
  const unused = (paths: readonly string[]): string[] =>
    rules.filter(({ expression }) => !paths.some((path) => expression.test(path))).map(({ pattern }) => pattern);
  const into = (folder: string): string[] => {
    const excluded = rules.findLastIndex(
      ({ isNegative, expression }) => isNegative && [folder, `${folder}/`].some((path) => expression.test(path)),
    );
    return rules.flatMap(({ pattern }, index) => (index > excluded && reaches(pattern, folder) ? pattern : []));
  };
  return { patterns, matches, unused, into };
}

/** Returns whether a beginning of a pattern, up to a slash or two stars, matches a folder. */
const reaches = (pattern: string, folder: string): boolean =>
  /^[^!*/]/.test(pattern) &&
  [...pattern.matchAll(/(?<!\\)\/|\*\*/g)].some(({ index, 0: end }) =>
    end === "/"
      ? toRegExp(pattern.slice(0, index)).test(folder)
      : toRegExp(pattern.slice(0, index + 2)).test(`${folder}/`),
  );

/** The parts of a pattern, in the order in which they are tried. */
const part =
  /(?<anyFolders>(?<=^|\/)(?:\*\*\/)+)|(?<anything>\*{2,})|(?<anyName>\*)|(?<quantifier>[?+])|\[(?<set>[^\]]*)\]|\\(?<escaped>[\s\S])|(?<literal>[^[\\])|(?<unreadable>[[\\])/gu;

/** @throws with the problem of a pattern that cannot be read, as what follows it in a sentence */
function toRegExp(pattern: string): RegExp {
  if (pattern === "") throw new Error("is empty");
  let source = "";
  let isRepeatable = false;
  for (const { groups = {} } of pattern.matchAll(part)) {
    const { anyFolders, anything, anyName, quantifier, set, escaped, literal } = groups;
    const character = escaped ?? literal;
    if (quantifier !== undefined && !isRepeatable) throw new Error(`has nothing before ${quantifier} to repeat`);
    isRepeatable = set !== undefined || character !== undefined;
    if (anyFolders !== undefined) source += "(?:.*/)?";
    else if (anything !== undefined) source += ".*";
    else if (anyName !== undefined) source += "[^/]*";
    else if (set !== undefined) source += characterSet(set);
    else if (quantifier !== undefined) source += quantifier;
    else if (character !== undefined) source += RegExp.escape(character);
    else throw new Error(groups.unreadable === "[" ? "has a bracket that is not closed" : "ends with a backslash");
  }
  return new RegExp(`^${source}$`, "su");
}

/** GitHub knows only the ranges `a-z`, `A-Z` and `0-9`, and parts of them. */
function characterSet(characters: string): string {
  const parts = characters.match(/[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_.-]/g) ?? [];
  if (parts.length === 0 || parts.join("") !== characters || !parts.every(isRange))
    throw new Error("has brackets with something other than letters, digits and ranges of them");
  return `[${parts.map((one) => (one.length === 3 ? one : RegExp.escape(one))).join("")}]`;
}

function isRange(text: string): boolean {
  if (text.length === 1) return true;
  const [first = "", , last = ""] = text;
  return first <= last && [/[a-z]/, /[A-Z]/, /[0-9]/].some((kind) => kind.test(first) && kind.test(last));
}
