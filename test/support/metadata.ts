import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

export const root = resolve(import.meta.dirname, "../..");

export interface ActionMetadata {
  inputs: Record<string, { description: string; required?: boolean; default?: string }>;
  outputs: Record<string, { description: string }>;
  runs: { using: string; main: string };
}

/** The content of `action.yml`. */
export function actionMetadata(): ActionMetadata {
  return parse(readFileSync(resolve(root, "action.yml"), "utf8")) as ActionMetadata;
}

export function outputNames(): string[] {
  return Object.keys(actionMetadata().outputs);
}
