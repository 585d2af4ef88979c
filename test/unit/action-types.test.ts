import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { permissions } from "../../src/action/comments/event.ts";
import { authMethods, boolean } from "../../src/action/inputs/rules.ts";
import { inputDefaults } from "../../src/action/inputs/schema.ts";
import { failReasons, outcomes } from "../../src/action/outcome.ts";
import type { SkipReason } from "../../src/action/result.ts";
import { knownStatuses } from "../../src/client/contract.ts";
import { actionMetadata, root } from "../support/metadata.ts";

interface Typing {
  type: string;
  "allowed-values"?: string[];
  separator?: string;
  "list-item"?: Typing;
}

const types = parse(readFileSync(resolve(root, "action-types.yml"), "utf8")) as Record<
  "inputs" | "outputs",
  Record<string, Typing>
>;
const metadata = actionMetadata();

// A type has no values at run time; the compiler checks that these are all of them.
const skipReasons = Object.keys({
  "no-trigger": true,
  "no-instruction": true,
  "not-permitted": true,
  bot: true,
  edited: true,
  withdrawn: true,
  fork: true,
  command: true,
  "nothing-new": true,
  "own-change": true,
  "dry-run": true,
} satisfies Record<SkipReason, true>);

test("exactly the inputs and outputs of action.yml have a type", () => {
  expect(Object.keys(types)).toEqual(["inputs", "outputs"]);
  expect(Object.keys(types.inputs)).toEqual(Object.keys(metadata.inputs));
  expect(Object.keys(types.outputs)).toEqual(Object.keys(metadata.outputs));
});

test("the values of each enum are those in the sources", () => {
  const { inputs, outputs } = types;
  expect(inputs["fail-on"]?.["list-item"]?.["allowed-values"]).toEqual([...failReasons, "none"]);
  expect(inputs.auth?.["allowed-values"]).toEqual(authMethods);
  expect(inputs["required-permission"]?.["allowed-values"]).toEqual(permissions);
  expect(outputs.status?.["allowed-values"]).toEqual(knownStatuses);
  expect(new Set(outputs.outcome?.["allowed-values"])).toEqual(new Set(Object.keys(outcomes)));
  expect(outputs["skip-reason"]?.["allowed-values"]).toEqual(skipReasons);
});

test("the type of an input fits its default", () => {
  for (const [name, value] of Object.entries(inputDefaults)) {
    const isBoolean = "value" in boolean(value);
    const isNumber = value !== "" && Number.isFinite(Number(value));
    const { type = "" } = types.inputs[name] ?? {};
    expect([type === "boolean", type === "float"], name).toEqual([isBoolean, isNumber]);
  }
});

// github-actions-typing rejects unknown keys, and keys of another type.
test.each([...Object.entries(types.inputs), ...Object.entries(types.outputs)])(
  "%s follows the grammar",
  (_name, typing) => {
    checkGrammar(typing);
    if (typing.type !== "list") return;
    expect(typing["list-item"]?.type).not.toBe("list");
    checkGrammar(typing["list-item"] as Typing);
  },
);

function checkGrammar(typing: Typing): void {
  const keys: Record<string, string[]> = {
    string: ["type"],
    boolean: ["type"],
    float: ["type"],
    integer: ["type"],
    enum: ["type", "allowed-values"],
    list: ["type", "separator", "list-item"],
  };
  expect(Object.keys(typing)).toEqual(keys[typing.type]);
  // YAML does not read a bare number, true or false as a string.
  for (const value of typing["allowed-values"] ?? []) expect(value).toEqual(expect.stringMatching(/\S/));
}
