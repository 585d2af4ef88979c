import type { CommentEvent } from "./event.ts";

/** The placeholders of a prompt template. */
export const placeholders = ["instruction", "author", "title", "body", "number", "url", "path", "line"] as const;
type Placeholder = (typeof placeholders)[number];

const pattern = /\{\{([^{}]*)\}\}/g;

/** Returns the names in a template that are not placeholders. */
export function unknownPlaceholders(template: string): string[] {
  const names = [...template.matchAll(pattern)].map(([, name = ""]) => name.trim());
  return [...new Set(names.filter((name) => !isPlaceholder(name)))];
}

/** Fills in a template in a single pass, so that what is filled in is never interpreted. */
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

/** Returns the template that applies if the workflow has none: the instruction and where it was given. */
export function defaultTemplate({ subject, review }: CommentEvent): string {
  const place = review ? `\nFile: {{ path }}${review.line === undefined ? "" : ", line {{ line }}"}` : "";
  return `{{ instruction }}\n\n---\nAsked for in ${subject.kind} #{{ number }}, "{{ title }}"\n{{ url }}${place}`;
}

function isPlaceholder(name: string): name is Placeholder {
  return (placeholders as readonly string[]).includes(name);
}
