import type { ThreadEvent } from "./event.ts";

const eventPlaceholders = [
  "instruction",
  "author",
  "title",
  "body",
  "number",
  "url",
  "path",
  "line",
  "label",
  "review",
] as const;
type Placeholder = (typeof eventPlaceholders)[number] | "changes";

/** Returns the placeholders of a prompt template. `changes` is one of them only with the input of this name. */
export function placeholders(hasChanges: boolean): readonly string[] {
  return hasChanges ? [...eventPlaceholders, "changes"] : eventPlaceholders;
}

const pattern = /\{\{([^{}]*)\}\}/g;

/** Returns the names in a template that are not among the `known` placeholders. */
export function unknownPlaceholders(template: string, known: readonly string[]): string[] {
  return [...new Set(namesIn(template).filter((name) => !known.includes(name)))];
}

function namesIn(template: string): string[] {
  return [...template.matchAll(pattern)].map(([, name = ""]) => name.trim());
}

/**
 * Fills in a template in a single pass, so that what is filled in is never interpreted.
 *
 * @param changes - the section with the changes, or empty; it goes to the end of a template that does not place it
 */
export function fillTemplate(template: string, instruction: string, event: ThreadEvent, changes: string): string {
  const { author, subject, position, label, reviewUrl } = event;
  const values: Record<Placeholder, string> = {
    instruction,
    author: author.login,
    title: subject.title,
    body: subject.body,
    number: String(subject.number),
    url: subject.url,
    path: position?.path ?? "",
    line: position?.line === undefined ? "" : String(position.line),
    label: label ?? "",
    review: reviewUrl ?? "",
    changes,
  };
  const text = template.replace(pattern, (text, name: string) => {
    const placeholder = name.trim();
    return isPlaceholder(placeholder) ? values[placeholder] : text;
  });
  return changes === "" || namesIn(template).includes("changes") ? text : `${text}\n\n${changes}`;
}

/** Returns the template that applies if the workflow has none: the instruction and its place. */
export function defaultTemplate({ subject, position, reviewUrl }: ThreadEvent): string {
  const place = position ? `\nFile: {{ path }}${position.line === undefined ? "" : ", line {{ line }}"}` : "";
  const review = reviewUrl === undefined ? "" : "\nReview: {{ review }}";
  return `{{ instruction }}\n\n---\nAsked for in ${subject.kind} #{{ number }}, "{{ title }}"\n{{ url }}${place}${review}`;
}

function isPlaceholder(name: string): name is Placeholder {
  return placeholders(true).includes(name);
}
