import { resolve } from "node:path";

/**
 * Returns the path of a file of the service that is used by its path, such as a program that runs in a process of its own.
 * A bundle of the service has these files next to it, in the same folders, with programs as JavaScript.
 *
 * @param path - relative to `service/src`
 */
export function ownFile(path: string): string {
  const file = resolve(import.meta.dirname, path);
  return import.meta.filename.endsWith(".ts") ? file : file.replace(/\.ts$/, ".js");
}
