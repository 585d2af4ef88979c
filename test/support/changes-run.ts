import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FakeRepository } from "./fake-repository.ts";
import { type MainOptions, type MainRun, prLink, record, respondWith, runMain } from "./run-main.ts";
import { temporaryFolder } from "./step.ts";

export interface ChangesRun extends MainRun {
  /** The prompts that were sent to the service. */
  prompts: string[];
  /** What came beside them. */
  sections: string;
  /** The line or annotation about changes. */
  said: string | undefined;
  notices: string[];
}

/** The event of a workflow run, which runs for the head of `main` unless it says otherwise. */
export interface WorkflowEvent {
  name: string;
  payload?: unknown;
  sha?: string;
}

/** Runs the step with `changes` in a repository. */
export async function runWithChanges(
  repository: FakeRepository,
  { name, payload = {}, sha = repository.head() }: WorkflowEvent,
  { inputs, environment, ...options }: Partial<MainOptions> = {},
): Promise<ChangesRun> {
  const eventPath = join(temporaryFolder(), "event.json");
  writeFileSync(eventPath, JSON.stringify(payload));
  const run = await runMain({
    respond: ({ method }) =>
      method === "POST"
        ? respondWith(201, record({ status: "active" }))
        : respondWith(200, record({ status: "completed", prLink })),
    github: repository,
    inputs: { changes: "list", "github-token": "ghs_0123456789", ...inputs },
    environment: {
      GITHUB_EVENT_NAME: name,
      GITHUB_EVENT_PATH: eventPath,
      GITHUB_SHA: sha,
      GITHUB_REPOSITORY: "acme/docs",
      ...environment,
    },
    ...options,
  });
  const { lines, annotations } = run.toolkit;
  return {
    ...run,
    sections: run.requests.flatMap(({ body }) => Object(body).sections ?? []).join("\n"),
    prompts: run.requests
      .filter(({ method }) => method === "POST")
      .map(({ body }) => {
        const { prompt, sections = [] } = body as { prompt: string; sections?: string[] };
        return [prompt, ...sections].join("\n\n");
      }),
    said: lines.find((line) => /^(?:No c|C)hanges/.test(line)),
    notices: annotations.filter(({ level }) => level === "notice").map(({ title }) => title),
  };
}
