import { globSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { parse } from "yaml";
import { root } from "./metadata.ts";

export interface WorkflowStep {
  id?: string;
  uses?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
  run?: string;
}

export interface Workflow {
  on: unknown;
  permissions?: unknown;
  jobs: Record<string, { steps?: WorkflowStep[] }>;
}

/** A workflow and where it stands, by its path in the project. */
export interface WorkflowSource {
  where: string;
  text: string;
  workflow: Workflow;
}

/** The workflows that this project runs. */
export function ownWorkflows(): WorkflowSource[] {
  return projectFiles(".github/workflows/*.{yml,yaml}").map((where) => {
    const text = readFileSync(join(root, where), "utf8");
    return { where, text, workflow: parse(text) as Workflow };
  });
}

/** The workflows that the README and the pages of `docs` show. */
export function shownWorkflows(): WorkflowSource[] {
  return ["README.md", ...projectFiles("docs/*.md")].flatMap((page) => {
    const blocks = readFileSync(resolve(root, page), "utf8").matchAll(/^```ya?ml\n(.*?)^```$/gms);
    return [...blocks].flatMap(([, text = ""], index) => {
      const workflow = parse(text) as Workflow;
      return workflow?.on === undefined ? [] : [{ where: `${page}, block ${index + 1}`, text, workflow }];
    });
  });
}

export function stepsOf({ workflow }: WorkflowSource): WorkflowStep[] {
  return Object.values(workflow.jobs).flatMap(({ steps = [] }) => steps);
}

function projectFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).map((file) => file.replaceAll(sep, "/"));
}
