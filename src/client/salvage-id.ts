import { isUsableJobId } from "./contract.ts";

/** One JSON token: a complete string, punctuation, or anything else up to the next of these. */
const token = /\s*(?:("(?:[^"\\]|\\.)*")|([{}[\]:,])|[^\s"{}[\]:,]+)/gy;

/** Returns the redacted top-level `id` of a 2xx response that is cut off: better than none if a job was started. */
export function salvageId(body: string, redact: (text: string) => string): string | undefined {
  let depth = 0;
  let lastString: string | undefined;
  let key: string | undefined;
  let id: string | undefined;
  for (const [, string, punctuation] of body.matchAll(token)) {
    const isOpening = punctuation === "{" || punctuation === "[";
    if (depth === 1) {
      const isValue = punctuation === undefined || isOpening;
      // The last value of a repeated `id` counts, as in `JSON.parse`.
      if (isValue && key === "id") id = parseString(string);
      if (punctuation === ":") key = parseString(lastString);
      if (punctuation === ",") key = undefined;
      lastString = string;
    }
    if (isOpening) depth++;
    else if (punctuation === "}" || punctuation === "]") depth--;
  }
  const redacted = id === undefined ? undefined : redact(id);
  return redacted !== undefined && isUsableJobId(redacted) ? redacted : undefined;
}

/** Returns the value of a string token; `undefined` without one, or if its escapes are invalid. */
function parseString(literal = ""): string | undefined {
  try {
    return String(JSON.parse(literal));
  } catch {
    return undefined;
  }
}
