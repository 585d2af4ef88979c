import { readFileSync } from "node:fs";

/** The payload of the event that started the workflow, which the runner keeps in a file: `GITHUB_EVENT_PATH`. */
export function readEventFile(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
