/** Decides which files count. */
export interface PathFilter {
  patterns: readonly string[];
  matches: (path: string) => boolean;
  /** Returns the patterns that match none of some paths, without those that exclude. */
  unused: (paths: readonly string[]) => string[];
  /** Returns the patterns that count files in a folder. One that begins with a wildcard is about no certain folder. */
  into: (folder: string) => string[];
}

/** Mistakes by which a pattern matches no file, and what they are, as what follows in a sentence. */
const mistakes: readonly (readonly [RegExp, string])[] = [
  [/^\.?\//, "begins with / or ./, as no path does"],
  [/\/$/, "ends with /, as no file does: add **"],
  [/^- /, "begins with the dash of a list"],
  [/^["'`]|["'`]$/, "has quotation marks"],
  [/(?:^|\/)\.\.(?:\/|$)/, "has .. in it, as no path does"],
  [/^#\s|\s#/, "has a comment, which is part of the pattern here"],
  [/,\s*[^,]*[*/]/, "has a comma: write one pattern in each line"],
  [/\\[a-z\d]/i, "has a backslash between folders: write /"],
];

/**
 * Parses the patterns of `paths`, one a line, as in `on.push.paths`: the last match decides, and `!` excludes. The usual libraries
 * differ in `?`, `+` and `**.js`. GitHub's documentation: "Filter pattern cheat sheet".
 */
export function parsePaths(text: string): { value: PathFilter | undefined } | { problem: string } {
  const unreadable = (line: number, problem: string) => ({
    problem: `has a pattern that cannot be read: line ${line} ${problem}`,
  });
  const rules: { pattern: string; isNegative: boolean; expression: RegExp }[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const pattern = line.trim();
    if (pattern === "") continue;
    const isNegative = pattern.startsWith("!");
    const path = isNegative ? pattern.slice(1) : pattern;
    const expression = toRegExp(path);
    if (typeof expression === "string") return unreadable(index + 1, expression);
    const mistake = mistakes.find(([one]) => one.test(path))?.[1];
    if (mistake !== undefined) return { problem: `has a pattern that matches no file: line ${index + 1} ${mistake}` };
    rules.push({ pattern, isNegative, expression });
  }
  if (rules.length === 0) return { value: undefined };
  if (rules.every(({ isNegative }) => isNegative))
    return unreadable(1, "only excludes files; add a pattern without ! before it, such as **");
  const matches = (path: string): boolean => {
    const last = rules.findLast(({ expression }) => expression.test(path));
    return last !== undefined && !last.isNegative;
  };
  const unused = (paths: readonly string[]): string[] =>
    rules
      .filter(({ isNegative, expression }) => !isNegative && !paths.some((path) => expression.test(path)))
      .map(({ pattern }) => pattern);
  const into = (folder: string): string[] => {
    const excluded = rules.findLastIndex(
      ({ isNegative, expression }) => isNegative && [folder, `${folder}/`].some((path) => expression.test(path)),
    );
    return rules.flatMap(({ pattern }, index) => (index > excluded && reaches(pattern, folder) ? pattern : []));
  };
  return { value: { patterns: rules.map(({ pattern }) => pattern), matches, unused, into } };
}

/** Returns whether a beginning of a pattern, up to a slash or two stars, matches a folder. */
function reaches(pattern: string, folder: string): boolean {
  const ends = /^[^!*]/.test(pattern) ? [...pattern.matchAll(/(?<!\\)\/|\*\*/g)] : [];
  return ends.some(({ index, 0: end }) => {
    const expression = toRegExp(pattern.slice(0, end === "/" ? index : index + 2));
    return typeof expression !== "string" && expression.test(end === "/" ? folder : `${folder}/`);
  });
}

/** The parts of a pattern, in the order in which they are tried. */
const token =
  /(?<anyDirectories>(?<=^|\/)(?:\*\*\/)+)|(?<anything>\*{2,})|(?<anyName>\*)|(?<quantifier>[?+])|\[(?<characters>[^\]]*)\]|\\(?<escaped>[\s\S])|(?<literal>[^[\\])|(?<unreadable>[[\\])/gu;

/** Converts a pattern, or returns the problem with one that cannot be read. */
function toRegExp(pattern: string): RegExp | string {
  if (pattern === "") return "is empty";
  let source = "";
  let isQuantifiable = false;
  for (const { groups = {} } of pattern.matchAll(token)) {
    const { anyDirectories, anything, anyName, quantifier, characters, escaped, literal } = groups;
    if (quantifier !== undefined) {
      if (!isQuantifiable) return `has nothing before ${quantifier} to repeat`;
      source += quantifier;
      isQuantifiable = false;
      continue;
    }
    isQuantifiable = characters !== undefined || escaped !== undefined || literal !== undefined;
    if (anyDirectories !== undefined) source += "(?:.*/)?";
    else if (anything !== undefined) source += ".*";
    else if (anyName !== undefined) source += "[^/]*";
    else if (characters !== undefined) {
      const set = characterSet(characters);
      if (set === undefined) return `has brackets with something other than letters, digits and ranges of them`;
      source += set;
    } else if (escaped !== undefined || literal !== undefined) source += RegExp.escape(escaped ?? literal ?? "");
    else return groups.unreadable === "[" ? "has a bracket that is not closed" : "ends with a backslash";
  }
  return new RegExp(`^${source}$`, "su");
}

/** GitHub knows ranges only of `a-z`, `A-Z` and `0-9`. Returns `undefined` if the brackets have something else. */
function characterSet(characters: string): string | undefined {
  const parts = characters.match(/[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_.-]/g) ?? [];
  const isValid = parts.length > 0 && parts.join("") === characters && parts.every(isRange);
  return isValid ? `[${parts.map((part) => (part.length === 3 ? part : RegExp.escape(part))).join("")}]` : undefined;
}

function isRange(part: string): boolean {
  if (part.length === 1) return true;
  const [first = "", , last = ""] = part;
  return first <= last && [/[a-z]/, /[A-Z]/, /[0-9]/].some((kind) => kind.test(first) && kind.test(last));
}
