import type { Runner } from "../../step/runner.ts";

export interface FakeStepRunner extends Runner {
  /** What `main` saved for `post`. */
  states: Record<string, string>;
  outputs: Record<string, string>;
  masks: string[];
  lines: string[];
  /** As `level title: text`. */
  annotations: string[];
  /** The lines of groups by their titles. */
  groups: Record<string, readonly string[]>;
}

/** Returns a runner that records everything the service's step sends it. */
export function createFakeStepRunner({
  inputs = {},
  states = {},
  isDebug = false,
}: {
  inputs?: Readonly<Record<string, string>>;
  states?: Record<string, string>;
  isDebug?: boolean;
}): FakeStepRunner {
  const outputs: Record<string, string> = {};
  const masks: string[] = [];
  const lines: string[] = [];
  const annotations: string[] = [];
  const groups: Record<string, readonly string[]> = {};
  return {
    states,
    outputs,
    masks,
    lines,
    annotations,
    groups,
    input: (name) => inputs[name] ?? "",
    setOutput: (name, value) => void Object.assign(outputs, { [name]: value }),
    saveState: (name, value) => void Object.assign(states, { [name]: value }),
    state: (name) => states[name] ?? "",
    mask: (secret) => void masks.push(secret),
    isDebug: () => isDebug,
    info: (line) => void lines.push(line),
    annotate: (level, title, text) => void annotations.push(`${level} ${title}: ${text}`),
    group: (title, content) => void Object.assign(groups, { [title]: content }),
  };
}
