import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root, serviceStepMetadata } from "../../../../test/support/metadata.ts";
import { networkKinds } from "../../../src/agents/network/network-kind.ts";
import { sandboxKinds } from "../../../src/agents/sandbox/create-sandbox.ts";
import { inputDefaults } from "../../../step/settings.ts";

const { inputs, outputs, runs } = serviceStepMetadata();
const page = readFileSync(resolve(root, "service/docs/own-agent.md"), "utf8");

/** Rows of a table below a heading of the page, as cells. */
function table(heading: string): string[][] {
  const section = page.split(`\n### ${heading}\n`)[1]?.split(/\n##+ /)[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| "));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim().replace(/^`|`$/g, "")),
  );
}

test("service/action.yml and the sources have the same inputs with the same defaults", () => {
  const declared = Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, input.default ?? ""]));
  // The runner fills in the workflow's token.
  const token = expect.stringMatching(/^\$\{\{ github\.token \}\}$/);
  expect(declared).toEqual({ ...inputDefaults, "github-token": token, "workflow-token": token });
});

test("service/docs/own-agent.md has the same inputs with the same defaults, and the same outputs", () => {
  const declared = Object.entries(inputs).map(([name, { required, default: value = "" }]) => [
    name,
    required ? "required" : value,
  ]);
  const shown = table("Inputs").map(([name, meaning = ""]) => {
    const [, value = ""] = / Default: `(.+)`\.$/.exec(meaning) ?? [];
    return [name, meaning.startsWith("Required. ") ? "required" : value];
  });
  expect(shown).toEqual(declared);
  expect(table("Outputs").map(([name]) => name)).toEqual(Object.keys(outputs));
});

test("every title of an annotation is on the page", () => {
  const files = [
    "setup/access",
    "setup/bubblewrap",
    "setup/install-agent",
    "setup/prepare",
    "memory/describe-memory",
    "settings",
    "start-server",
    "stop-server",
    "serve",
  ];
  const sources = files.map((file) => readFileSync(resolve(root, `service/step/${file}.ts`), "utf8")).join("\n");
  const titles = [...sources.matchAll(/(?:SetupError\(|warn\(|"(?:error|warning)",|: \[)\s*"([A-Z][^"]+)"/g)].map(
    ([, title]) => title,
  );
  expect(titles.length).toBeGreaterThan(12);
  for (const title of titles) if (title !== "Cancelled") expect(page).toContain(title);
});

test("service/action-types.yml has a type for each input and output, and the values of the enums", () => {
  const types = parse(readFileSync(resolve(root, "service/action-types.yml"), "utf8")) as Record<
    "inputs" | "outputs",
    Record<string, { "allowed-values"?: string[] }>
  >;
  expect(Object.keys(types.inputs)).toEqual(Object.keys(inputs));
  expect(Object.keys(types.outputs)).toEqual(Object.keys(outputs));
  expect(types.inputs.sandbox?.["allowed-values"]).toEqual(sandboxKinds);
  expect(types.inputs["agent-network"]?.["allowed-values"]).toEqual(networkKinds);
});

test("the runner starts the step's own bundle on Node 24", () => {
  expect(runs.using).toBe("node24");
  for (const file of [runs.main, runs.post ?? ""])
    expect(resolve(root, "service", file)).toBe(resolve(root, "service/dist/index.js"));
});
