import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { threadEvents } from "../../src/action/comments/event.ts";
import { root } from "../support/metadata.ts";
import { exampleWorkflows, stepsOf, type WorkflowStep } from "../support/workflows.ts";

/** The table in the docs: what the job needs for each event of comment mode. */
const page = readFileSync(resolve(root, "docs/comment-mode.md"), "utf8");
const section = page.split("\n## Permissions\n")[1]?.split("\n## ")[0] ?? "";
const rows = [...section.matchAll(/^\| `(\w+)` \| (.*) \| (.*) \| (.*) \|$/gm)].map(
  ([, event = "", replies = "", silent = "", changes = ""]) => ({
    event,
    replies: permissionsIn(replies),
    silent: permissionsIn(silent),
    changes: permissionsIn(changes),
  }),
);

function permissionsIn(cell: string): [string, string][] {
  return [...cell.matchAll(/`([a-z-]+): (read|write)`/g)].map(([, name = "", level = ""]) => [name, level]);
}

/** Returns the higher level of each permission. */
function union(permissions: readonly [string, string][]): Record<string, string> {
  const all: Record<string, string> = {};
  for (const [name, level] of permissions) if (all[name] !== "write") all[name] = level;
  return all;
}

const isAction = ({ uses }: WorkflowStep) => uses?.includes("/agent-job-action@");
const hasAgent = (step: WorkflowStep) => isAction(step) && step.with?.agent !== undefined;
const inCommentMode = exampleWorkflows().filter((source) =>
  stepsOf(source).some((step) => isAction(step) && (step.with?.["trigger-phrase"] || step.with?.["trigger-label"])),
);

test("the table has every event of comment mode", () => {
  expect(rows.map(({ event }) => event).sort()).toEqual([...threadEvents].sort());
});

test("there are examples to compare, with every event but pull_request", () => {
  const events = inCommentMode.flatMap(({ workflow }) => Object.keys(workflow.on as object));
  expect(new Set(threadEvents.filter((name) => !events.includes(name)))).toEqual(new Set(["pull_request"]));
});

test.each(inCommentMode)("the permissions of $where are those that the table names for its events", ({ workflow }) => {
  const events = Object.keys(workflow.on as object);
  for (const job of Object.values(workflow.jobs)) {
    const { steps = [], permissions } = job as typeof job & { permissions?: Record<string, string> };
    const { with: inputs } = steps.find(isAction) ?? {};
    const needed = rows
      .filter(({ event }) => events.includes(event))
      .flatMap(({ replies, silent, changes }) => [
        ...(inputs?.reply === false ? silent : replies),
        ...(inputs?.changes ? changes : []),
      ]);
    // A step with a prompt of its own may be re-run without a word of the attempt before.
    if (inputs?.prompt) needed.push(["actions", "read"]);
    // The README names these for an agent on the runner.
    if (steps.some(hasAgent)) needed.push(["contents", "write"], ["pull-requests", "write"]);
    expect(permissions).toEqual(union(needed));
  }
});

/** The examples of the hosted service whose steps have a prompt. */
const hosted = exampleWorkflows().filter((source) =>
  stepsOf(source).some(
    (step) =>
      isAction(step) && step.with?.prompt && !step.with["base-url"] && !step.with.agent && !step.with["dry-run"],
  ),
);

test.each(hosted)(
  "a re-run of $where can ask GitHub whether the step ran, and a comment says why",
  ({ where, workflow }) => {
    const jobs = Object.values(workflow.jobs) as { steps?: WorkflowStep[]; permissions?: Record<string, string> }[];
    const asking = jobs.filter(({ steps = [] }) => steps.some((step) => isAction(step) && step.with?.prompt));
    expect(asking.some(({ permissions }) => permissions?.actions === "read")).toBe(true);
    expect(readFileSync(resolve(root, where), "utf8")).toMatch(/actions: read # lets a re-run/);
  },
);
