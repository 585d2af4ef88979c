import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Returns a function that returns the files a file imports, directly or not, by their absolute paths. */
export function createImportGraph(): (file: string) => Set<string> {
  const direct = new Map<string, string[]>();
  const read = (file: string): string[] => {
    const known = direct.get(file);
    if (known) return known;
    const text = readFileSync(file, "utf8");
    const specifiers = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g)].map(([, name = ""]) => name);
    const found = specifiers.map((name) => resolve(dirname(file), name)).filter((path) => existsSync(path));
    direct.set(file, found);
    return found;
  };
  return (file) => {
    const reached = new Set<string>();
    const pending = [file];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      pending.push(...read(next));
    }
    return reached;
  };
}
