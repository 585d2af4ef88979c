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
  concurrency?: Concurrency;
  jobs: Record<string, Job>;
}

interface Job {
  steps?: WorkflowStep[];
  /** A workflow that it calls in place of steps. */
  uses?: string;
  concurrency?: Concurrency;
  "timeout-minutes"?: number;
}

export interface Concurrency {
  group: string;
  "cancel-in-progress"?: boolean | string;
}

/** A workflow and its path in the project. */
export interface WorkflowSource {
  where: string;
  text: string;
  workflow: Workflow;
}

/** A block of YAML on a page, and the line of text before it. */
export interface ShownBlock {
  page: string;
  before: string;
  text: string;
}

/** The workflows that this project runs. */
export function ownWorkflows(): WorkflowSource[] {
  return readWorkflows(".github/workflows/*.{yml,yaml}");
}

/** The workflows that users copy. */
export function exampleWorkflows(): WorkflowSource[] {
  return readWorkflows("examples/*.yml");
}

/** The pages that users read. */
export function pages(): string[] {
  return ["README.md", "service/README.md", ...projectFiles("{,service/}docs/*.md")];
}

/** All blocks of YAML on those pages. */
export function shownBlocks(): ShownBlock[] {
  return pages().flatMap((page) => {
    const blocks = readFileSync(resolve(root, page), "utf8").matchAll(/^([^\n]*)\n+```ya?ml\n(.*?)^```$/gms);
    return [...blocks].map(([, before = "", text = ""]) => ({ page, before, text }));
  });
}

export function stepsOf({ workflow }: Pick<WorkflowSource, "workflow">): WorkflowStep[] {
  return Object.values(workflow.jobs).flatMap(({ steps = [] }) => steps);
}

function readWorkflows(pattern: string): WorkflowSource[] {
  return projectFiles(pattern).map((where) => {
    const text = readFileSync(join(root, where), "utf8");
    return { where, text, workflow: parse(text) as Workflow };
  });
}

function projectFiles(pattern: string): string[] {
  return globSync(pattern, { cwd: root }).map((file) => file.replaceAll(sep, "/"));
}
