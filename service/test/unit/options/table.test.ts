import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../../../test/support/metadata.ts";
import { type Option, optionNames, options, withKeys } from "../../../src/options/table.ts";

const table: [string, Option<unknown>][] = optionNames.map((name) => [name, options[name]]);

test("docs/operating.md has each key of a project in the configuration, and no other", () => {
  const page = readFileSync(join(root, "service/docs/operating.md"), "utf8");
  const section = /^\| key \| value \|\n\| --- \| --- \|\n((?:\|.*\n)+)/m.exec(page)?.[1] ?? "";
  const shown = section.split("\n").flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)]);
  const keys = table.flatMap(([, { key }]) => key ?? []);
  expect(shown.map(([, key]) => key).sort()).toEqual([...keys, "github", "githubApi", "githubTokenEnv"].sort());
});

test("messages name keys in place of options", () => {
  expect(withKeys("--agent-network model requires --sandbox bwrap, --agents-per-project and --no-option.")).toBe(
    "agentNetwork model requires sandbox bwrap, agents and --no-option.",
  );
});
