/**
 * A sentence that keeps its own words apart from what came from outside, so that each place it is shown in can make
 * the latter harmless in its own way.
 */
export type Text = readonly (string | { readonly outside: string })[];

/** Template tag for {@link Text}: a string filled in counts as outside text, another `Text` keeps its parts. */
export function say(words: TemplateStringsArray, ...values: readonly (string | number | Text)[]): Text {
  return words.flatMap((own, index) => {
    const value = values[index];
    if (value === undefined) return [own];
    if (typeof value === "number") return [own, String(value)];
    return typeof value === "string" ? [own, { outside: value }] : [own, ...value];
  });
}

/** Words of our own that a function made, such as a duration. */
export function own(words: string): Text {
  return [words];
}

/** Several texts as one, with `separator` between those that are not empty. */
export function join(texts: readonly Text[], separator: string): Text {
  return texts.filter((text) => text.length > 0).flatMap((text, index) => (index === 0 ? text : [separator, ...text]));
}

/** The text as a plain string, outside parts and all: for the gates in `untrusted.ts`. */
export function plain(text: Text): string {
  return text.map((part) => (typeof part === "string" ? part : part.outside)).join("");
}

/** The text with its first letter in upper case. */
export function capitalised(text: Text): Text {
  const [first, ...rest] = text;
  return typeof first === "string" ? [first.charAt(0).toUpperCase() + first.slice(1), ...rest] : text;
}
