/**
 * Returns the path of the first key that an object in valid JSON has twice, such as `projects.docs`; `undefined` if there is none.
 * `JSON.parse` takes the last one without a word.
 */
export function duplicateKey(json: string): string | undefined {
  /** The objects and lists around the current position. A list has no keys. */
  const around: { keys: Set<string> | undefined; path: string; key: string }[] = [];
  for (const [token, text] of json.matchAll(/("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|[{}[\]]/g)) {
    const inner = around.at(-1);
    if (token === "{" || token === "[") {
      const path = [inner?.path, inner?.key].filter(Boolean).join(".");
      around.push({ keys: token === "{" ? new Set() : undefined, path, key: "" });
    } else if (token === "}" || token === "]") around.pop();
    else if (text !== undefined && inner?.keys !== undefined) {
      inner.key = JSON.parse(text) as string;
      if (inner.keys.has(inner.key)) return [inner.path, inner.key].filter(Boolean).join(".");
      inner.keys.add(inner.key);
    }
  }
  return undefined;
}
