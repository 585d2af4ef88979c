import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parse } from "yaml";

export const root = resolve(import.meta.dirname, "../..");

export interface ActionMetadata {
  inputs: Record<string, { description: string; required?: boolean; default?: string }>;
  outputs: Record<string, { description: string }>;
  runs: { using: string; main: string; post?: string };
}

/** The content of `action.yml`. */
export function actionMetadata(): ActionMetadata {
  return readMetadata("action.yml");
}

/** The content of `service/action.yml`. */
export function serviceStepMetadata(): ActionMetadata {
  return readMetadata("service/action.yml");
}

function readMetadata(file: string): ActionMetadata {
  return parse(readFileSync(resolve(root, file), "utf8")) as ActionMetadata;
}

export function outputNames(): string[] {
  return Object.keys(actionMetadata().outputs);
}
