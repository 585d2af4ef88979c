import type { ThreadEvent } from "./event.ts";

/** What takes the place of each placeholder of a prompt template. */
const eventValues: Readonly<Record<string, (event: ThreadEvent, instruction: string) => string>> = {
  instruction: (_, instruction) => instruction,
  author: ({ author }) => author.login,
  title: ({ subject }) => subject.title,
  body: ({ subject }) => subject.body,
  number: ({ subject }) => String(subject.number),
  url: ({ subject }) => subject.url,
  path: ({ position }) => position?.path ?? "",
  line: ({ position }) => String(position?.line ?? ""),
  label: ({ label }) => label ?? "",
  review: ({ reviewUrl }) => reviewUrl ?? "",
};

/** Returns the placeholders of a prompt template. `changes` is one of them only with the input of this name. */
export function placeholders(hasChanges: boolean): readonly string[] {
  return [...Object.keys(eventValues), ...(hasChanges ? ["changes"] : [])];
}

const pattern = /\{\{([^{}]*)\}\}/g;

/** Returns the names in a template that are not among the `known` placeholders. */
export function unknownPlaceholders(template: string, known: readonly string[]): string[] {
  return [...new Set(namesIn(template).filter((name) => !known.includes(name)))];
}

/** Returns whether a template has a place for what is asked for. */
export function hasInstruction(template: string): boolean {
  return namesIn(template).includes("instruction");
}

function namesIn(template: string): string[] {
  return [...template.matchAll(pattern)].map(([, name = ""]) => name.trim());
}

/** What takes the place of the changes in a prompt that they come beside. */
export const changesBelow = "(listed after this task, if there are any)";

/** Fills in a text in one pass, so that no value is interpreted; changes without a place go to its end. */
function fill(text: string, values: Readonly<Record<string, string>>, changes: string): string {
  const byName = new Map(Object.entries({ ...values, changes }));
  const filled = text.replace(pattern, (placeholder, name: string) => byName.get(name.trim()) ?? placeholder);
  return changes === "" || changes === changesBelow || namesIn(text).includes("changes")
    ? filled
    : `${filled}\n\n${changes}`;
}

/** Puts the section with the changes into a prompt of the workflow, which stays as it is without a section. */
export function addSection(prompt: string, section: string | undefined): string {
  return section === undefined ? prompt : fill(prompt, {}, section);
}

/** Fills in a template of comment mode; the section with the changes may be empty. */
export function fillTemplate(template: string, instruction: string, event: ThreadEvent, changes: string): string {
  const values = Object.entries(eventValues).map(([name, read]) => [name, read(event, instruction)]);
  return fill(template, Object.fromEntries(values), changes);
}

/** Returns the template that applies if the workflow has none: the instruction and its place. */
export function defaultTemplate({ subject, position, reviewUrl }: ThreadEvent): string {
  const place = position ? `\nFile: {{ path }}${position.line === undefined ? "" : ", line {{ line }}"}` : "";
  const review = reviewUrl === undefined ? "" : "\nReview: {{ review }}";
  return `{{ instruction }}\n\n---\nAsked for in ${subject.kind} #{{ number }}, "{{ title }}"\n{{ url }}${place}${review}`;
}
