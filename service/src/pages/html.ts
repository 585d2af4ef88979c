const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A piece of HTML in which all untrusted text is escaped. */
export class Html {
  readonly #text: string;

  /** @param trusted - is not escaped: only for HTML that the service itself wrote */
  constructor(trusted: string) {
    this.#text = trusted;
  }

  toString(): string {
    return this.#text;
  }
}

/** Values in a template. Text is escaped, line breaks separate the items of a list, and `undefined` and `false` add nothing. */
export type Content = Html | string | number | readonly Content[] | undefined | false;

/** Makes HTML from a template. Attributes must be in double quotes. */
export function html(parts: TemplateStringsArray, ...content: readonly Content[]): Html {
  return new Html(parts.reduce((text, part, index) => text + render(content[index - 1]) + part));
}

/** Returns text as the value of a form field, which the browser sends back unchanged. */
export function fieldValue(text: string): Html {
  return new Html(escapeMarkup(text));
}

/** Makes the control characters visible that would reorder a text. */
export function showReordering(text: string): string {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, (control) => `[U+${control.codePointAt(0)?.toString(16)}]`);
}

function render(content: Content): string {
  if (content === undefined || content === false) return "";
  if (content instanceof Html) return content.toString();
  if (typeof content === "object") return content.map(render).join("\n");
  return escapeMarkup(showReordering(String(content)));
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}
