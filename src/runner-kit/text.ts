/** A sentence that keeps our own words apart from untrusted text, which each place escapes in its own way. */
export type Text = readonly (string | { readonly untrusted: string })[];

/** Template tag for {@link Text}: an interpolated string is untrusted, an interpolated `Text` keeps its parts. */
export function say(words: TemplateStringsArray, ...values: readonly (string | number | Text)[]): Text {
  return words.flatMap((trusted, index) => {
    const value = values[index];
    if (value === undefined) return [trusted];
    if (typeof value === "number") return [trusted, String(value)];
    return typeof value === "string" ? [trusted, { untrusted: value }] : [trusted, ...value];
  });
}

/** Marks words of our own that were computed, such as a duration, as trusted. */
export function trusted(words: string): Text {
  return [words];
}

/** Joins the texts that are not empty. */
export function join(texts: readonly Text[], separator: string): Text {
  return texts.filter((text) => text.length > 0).flatMap((text, index) => (index === 0 ? text : [separator, ...text]));
}

/** Joins sentences with spaces, leaving out empty ones. */
export function joinSentences(...texts: readonly Text[]): Text {
  return join(texts, " ");
}

/** Returns the text as a string, with the untrusted parts unescaped: only for the functions in `untrusted.ts`. */
export function plain(text: Text): string {
  return text.map((part) => (typeof part === "string" ? part : part.untrusted)).join("");
}

/** Capitalizes the first letter. */
export function capitalized(text: Text): Text {
  const [first, ...rest] = text;
  return typeof first === "string" ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : text;
}

/** The result of a run in words, for annotation, summary and reply. */
export interface Message {
  title: string;
  /** What happened, and whether a job is running now. */
  what: Text;
  /** A list that belongs to `what`. */
  points?: readonly Text[];
  /** What to do next; empty if there is nothing to do. */
  next: Text;
}

/** Template tag: the lines are title, what happened, and what to do next. An empty sentence leaves no second space. */
export function message(words: TemplateStringsArray, ...values: readonly (string | number | Text)[]): Message {
  const lines: (string | { readonly untrusted: string })[][] = [];
  words.forEach((piece, index) => {
    const before = values[index - 1];
    const [rest = "", ...starts] = piece.split(/\n\s*/);
    const isEmpty = typeof before === "object" && before.length === 0;
    lines.at(-1)?.push(isEmpty ? rest.trimStart() : rest);
    for (const start of starts) lines.push([start]);
    const value = values[index];
    if (value !== undefined)
      lines.at(-1)?.push(...(typeof value === "string" ? [{ untrusted: value }] : say`${value}`));
  });
  const [title = [], what = [], next = []] = lines.map(trimmed);
  return { title: title.filter((part) => typeof part === "string").join(""), what, next };
}

/** Returns a line without the space before an empty sentence at its end. */
function trimmed(line: Text): Text {
  const parts = line.filter((part) => part !== "");
  const last = parts.at(-1);
  return typeof last === "string" ? [...parts.slice(0, -1), last.trimEnd()] : parts;
}
