/**
 * Returns an error of an agent for people. Some agents print what their model's API answered, as JSON that is in a text or in other JSON.
 */
export function readableError(error: string): string {
  const start = error.indexOf("{");
  const end = error.lastIndexOf("}");
  const parsed = start >= 0 && end > start ? parse(error.slice(start, end + 1)) : undefined;
  const message = messageIn(parsed);
  if (message === undefined) return error;
  // What is before it says where it came from: `API Error: 401 {…}`.
  const before = error
    .slice(0, start)
    .replace(/^[\s[("']+|[\s"'(:-]+$/g, "")
    .trim();
  const readable = readableError(message);
  return before === "" || readable.includes(before) ? readable : `${before}: ${readable}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Finds the message in an API's answer, such as `{ "error": { "message": "…" } }`. */
function messageIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { error, message } = value as { error?: unknown; message?: unknown };
  if (typeof message === "string" && message !== "") return message;
  return typeof error === "string" && error !== "" ? error : messageIn(error);
}
