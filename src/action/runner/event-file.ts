import { readFileSync } from "node:fs";

/** Reads the payload of the event that triggered the workflow: the file that `GITHUB_EVENT_PATH` names. */
export function readEventFile(path: string): unknown {
  return JSON.parse(readFileSync(path, "utf8"));
}
