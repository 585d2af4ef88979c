/** The start of the range of changes: the one that the event implies, a commit, tag or branch, or some time ago. */
export type Since = { kind: "auto" } | { kind: "ref"; ref: string } | { kind: "duration"; ms: number };

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
/** Ten years. A longer duration may lead to an invalid date. */
const maxDurationMs = 3650 * unitMs.d;

/** Parses `changes-since`. Returns `undefined` if it is neither `auto`, nor a duration above 0, nor a possible ref. */
export function parseSince(text: string): Since | undefined {
  if (text === "auto") return { kind: "auto" };
  const [, number, unit] = /^(\d+(?:\.\d+)?)([mhdw])$/.exec(text) ?? [];
  if (number !== undefined) {
    const ms = Number(number) * unitMs[unit as keyof typeof unitMs];
    return ms > 0 && ms <= maxDurationMs ? { kind: "duration", ms } : undefined;
  }
  return isPossibleRef(text) ? { kind: "ref", ref: text } : undefined;
}

/** Returns whether a text can be the name of a ref. Git's documentation: `git check-ref-format`. A ref cannot be longer than a file name. */
export function isPossibleRef(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a ref must not contain
  const isForbidden = /[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\/|\.lock(?:\/|$)|(?:^|\/)\.|^[-/]|[/.]$|^@$/;
  return text.length > 0 && text.length <= 255 && !isForbidden.test(text);
}
