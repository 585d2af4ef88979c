import type { CommentEvent } from "./event.ts";

/** What a prompt template may name. */
export const placeholders = ["instruction", "author", "title", "body", "number", "url", "path", "line"] as const;
type Placeholder = (typeof placeholders)[number];

const pattern = /\{\{([^{}]*)\}\}/g;

/** The names in a template that mean nothing. */
export function unknownPlaceholders(template: string): string[] {
  const names = [...template.matchAll(pattern)].map(([, name = ""]) => name.trim());
  return [...new Set(names.filter((name) => !isPlaceholder(name)))];
}

/** The prompt for an instruction: the template filled in one pass, so that what is filled in is never read again. */
export function fillTemplate(template: string, instruction: string, event: CommentEvent): string {
  const { author, subject, review } = event;
  const values: Record<Placeholder, string> = {
    instruction,
    author: author.login,
    title: subject.title,
    body: subject.body,
    number: String(subject.number),
    url: subject.url,
    path: review?.path ?? "",
    line: review?.line === undefined ? "" : String(review.line),
  };
  return template.replace(pattern, (text, name: string) => {
    const placeholder = name.trim();
    return isPlaceholder(placeholder) ? values[placeholder] : text;
  });
}

/** The prompt where the author gave no template: the instruction, and where it was given. */
export const defaultTemplate = ({ subject, review }: CommentEvent): string => {
  const place = review ? `\nFile: {{ path }}${review.line === undefined ? "" : ", line {{ line }}"}` : "";
  return `{{ instruction }}\n\n---\nAsked for in ${subject.kind} #{{ number }}, "{{ title }}"\n{{ url }}${place}`;
};

function isPlaceholder(name: string): name is Placeholder {
  return (placeholders as readonly string[]).includes(name);
}
