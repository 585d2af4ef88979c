import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import type { PlantedFault } from "./planted.ts";

const folder = new URL("../../", import.meta.url);
const parameter = "planted";

/**
 * Loads a simulation and the service once more, with a fault in them.
 *
 * @param properties - the URL of the simulation's module
 * @throws if the sources do not have what the fault replaces
 */
export async function plant(
  { name, edits }: PlantedFault,
  properties: string,
): Promise<Pick<typeof import("./property.ts"), "countHistories">> {
  const query = `?${parameter}=${encodeURIComponent(name)}`;
  const missing = new Set(edits);
  registerHooks({
    resolve: (specifier, context, nextResolve) => {
      const resolved = nextResolve(specifier, context);
      const isOwn = context.parentURL?.endsWith(query) && /^\.{1,2}\//.test(specifier);
      return isOwn && !resolved.url.endsWith(query) ? { ...resolved, url: resolved.url + query } : resolved;
    },
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      const own = edits.filter(({ file }) => url === new URL(file, folder).href + query);
      if (own.length === 0) return loaded;
      let source = readFileSync(fileURLToPath(url), "utf8");
      for (const edit of own) {
        if (source.split(edit.from).length !== 2) throw new Error(`${edit.file} does not have once: ${edit.from}`);
        source = source.replace(edit.from, () => edit.to);
        missing.delete(edit);
      }
      return { ...loaded, source };
    },
  });
  // The hooks stay, for what is loaded on demand.
  const planted = (await import(properties + query)) as Pick<typeof import("./property.ts"), "countHistories">;
  for (const { file } of missing) throw new Error(`${file} is not part of the simulation`);
  return planted;
}
