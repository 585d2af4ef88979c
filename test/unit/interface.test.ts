import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { inputDefaults } from "../../src/action/inputs/schema.ts";
import { failReasons } from "../../src/action/outcome.ts";
import { outputsOf } from "../../src/action/outputs.ts";
import { RunState } from "../../src/action/run-state.ts";
import { actionMetadata, root } from "../support/metadata.ts";

const { inputs, outputs, runs } = actionMetadata();
const readme = readFileSync(resolve(root, "README.md"), "utf8");

/** Rows of the README's tables under a heading, as cells. */
function table(heading: string): string[][] {
  const section = readme.split(`\n## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  const tables = section.split(/\n(?!\|)/).map((lines) => lines.split("\n").filter((line) => line.startsWith("| ")));
  return tables.flatMap((rows) =>
    rows.slice(2).map((row) =>
      row
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    ),
  );
}

const unquoted = (cell = "") => cell.replaceAll("`", "");

test("action.yml and the schema have the same inputs with the same defaults", () => {
  const declared = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.default ?? ""]));
  // The runner fills in the workflow's token.
  const token = expect.stringMatching(/^\$\{\{ github\.token \}\}$/);
  expect(declared).toEqual({
    ...inputDefaults,
    "github-token": token,
    "workflow-token": token,
    "matrix-leg": expect.stringMatching(/^\$\{\{ toJSON\(matrix\) \}\}$/),
  });
});

test("the README's tables have the same inputs with the same defaults, without internal ones", () => {
  const isInternal = ({ description }: { description: string }) => description.startsWith("Internal, ");
  const declared = Object.entries(inputs)
    .filter(([, input]) => !isInternal(input))
    .map(([name, { default: value = "" }]) => [name, value]);
  const shown = table("Inputs").map(([name, meaning = ""]) => {
    // A long value may have tags in it, so that it can wrap on a phone.
    const [, value = ""] = / Default: (?:`|<code>)(.+)(?:`|<\/code>)\.$/.exec(meaning.replaceAll("<wbr>", "")) ?? [];
    return [unquoted(name), value];
  });
  expect(shown.sort()).toEqual(declared.sort());
});

test("action.yml, the README's table and the action have the same outputs", () => {
  const names = Object.keys(outputs);
  expect(table("Outputs").map(([name]) => unquoted(name))).toEqual(names);
  expect(Object.keys(outputsOf("error", new RunState(), 0))).toEqual(names);
});

test("action.yml and the README's table have the same outcomes", () => {
  const outcomes = table("Outcomes").map(([name]) => unquoted(name));
  const declared = outputs.outcome?.description.match(/[a-z]+(-[a-z]+)*/g)?.filter((word) => word !== "or");
  expect(outcomes).toEqual(declared);
  for (const outcome of failReasons) expect(inputs["fail-on"]?.description).toContain(outcome);
});

test("the action runs the bundle on Node 24", () => {
  expect(runs).toEqual({ using: "node24", main: "dist/index.js" });
  expect(process.version).toMatch(/^v24\./);
});

test("the README names the commands that CI runs", () => {
  const check = readFileSync(resolve(root, ".ci/run"), "utf8");
  expect(readme).toContain("npm ci && npm test");
  expect(readme).toContain("npm ci && npm run demo");
  expect(check).toMatch(/^npm ci && HOME=\S+ npm test$/m);
});
