import type { ThreadEvent } from "./event.ts";

/** Keeps what others named in its line, and in its quotes. */
export const inLine = (name: string): string => name.replace(/[\\"]/g, "\\$&").replace(/[\s\u0085]+/g, " ");

/** What takes the place of each placeholder of a prompt template. */
const eventValues: Readonly<Record<string, (event: ThreadEvent, instruction: string) => string>> = {
  instruction: (_, instruction) => instruction,
  author: ({ author }) => author.login,
  title: ({ subject }) => inLine(subject.title),
  body: ({ subject }) => subject.body,
  number: ({ subject }) => String(subject.number),
  url: ({ subject }) => subject.url,
  path: ({ position }) => inLine(position?.path ?? ""),
  line: ({ position }) => String(position?.line ?? ""),
  label: ({ label }) => label ?? "",
  review: ({ reviewUrl }) => reviewUrl ?? "",
};

/** What a prompt has a place for besides, or gets at its end, each empty if there is nothing to say. */
export interface Sections {
  /** `undefined` without the input of this name. */
  changes?: string | undefined;
  /** `undefined` outside of comment mode. */
  thread?: string | undefined;
}

/** Returns the placeholders of a prompt template. `changes` is one of them only with the input of this name. */
export function placeholders(hasChanges: boolean): readonly string[] {
  return [...Object.keys(eventValues), "thread", ...(hasChanges ? ["changes"] : [])];
}

const pattern = /\{\{([^{}]*)\}\}/g;

/** Returns the names in a template that are not among the `known` placeholders. */
export function unknownPlaceholders(template: string, known: readonly string[]): string[] {
  return [...new Set(namesIn(template).filter((name) => !known.includes(name)))];
}

/** Returns whether a template has a place for the request. */
export function hasInstruction(template: string): boolean {
  return namesIn(template).includes("instruction");
}

function namesIn(template: string): string[] {
  return [...template.matchAll(pattern)].map(([, name = ""]) => name.trim());
}

/** What takes the place of sections in a prompt that they come beside. */
export const sectionsBelow: Sections = {
  changes: "(listed after this task, if there are any)",
  thread: "(quoted after this task, if it says anything)",
};

/** Fills in a text in one pass, so that no value is interpreted; sections without a place go to its end. */
function fill(text: string, values: Readonly<Record<string, string>>, sections: Sections): string {
  const given = Object.entries(sections).filter(([, section]) => section !== undefined);
  const byName = new Map<string, string>(Object.entries({ ...values, ...Object.fromEntries(given) }));
  const filled = text.replace(pattern, (placeholder, name: string) => byName.get(name.trim()) ?? placeholder);
  const names = namesIn(text);
  const isOver = (name: string, section: string): boolean =>
    section !== "" && section !== sectionsBelow[name as keyof Sections] && !names.includes(name);
  return [filled, ...given.flatMap(([name, section]) => (isOver(name, section) ? [section] : []))].join("\n\n");
}

/** Puts sections into a prompt of the workflow, which stays as it is without one. */
export function addSections(prompt: string, { changes }: Sections): string {
  return changes === undefined ? prompt : fill(prompt, {}, { changes });
}

/** Fills in a template of comment mode. A section that is not given is empty. */
export function fillTemplate(template: string, instruction: string, event: ThreadEvent, sections: Sections): string {
  const values = Object.entries(eventValues).map(([name, read]) => [name, read(event, instruction)]);
  return fill(template, Object.fromEntries(values), { changes: "", thread: "", ...sections });
}

/** Returns the template that applies if the workflow has none: the instruction and its place. What others wrote, as a title, is in the thread. */
export function defaultTemplate({ subject, position, reviewUrl }: ThreadEvent): string {
  const place = position ? `\nFile: {{ path }}${position.line === undefined ? "" : ", line {{ line }}"}` : "";
  const review = reviewUrl === undefined ? "" : "\nReview: {{ review }}";
  return `{{ instruction }}\n\n---\nAsked for in ${subject.kind} #{{ number }}\n{{ url }}${place}${review}`;
}
