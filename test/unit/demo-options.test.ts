import { expect, test } from "vitest";
import { parseOptions } from "../../tools/demo-options.ts";

test("defaults to a local job with a pull request", () => {
  expect(parseOptions([], {})).toMatchObject({ prompt: expect.stringContaining("Add a page") });
  expect(parseOptions([], {})).toMatchObject({ scene: undefined, baseUrl: undefined, project: "demo" });
});

test.each([
  ["--no-changes", "no-changes"],
  ["--fail", "failed"],
  ["--time-out", "timed-out"],
])("takes %s for the scene %s", (option, scene) => {
  expect(parseOptions([option], {})).toMatchObject({ scene });
});

test("requires a project and a key for a real service", () => {
  const args = ["--base-url", "https://example.com"];
  const environment = { AGENT_API_KEY: "mint_x" };
  expect(parseOptions(args, environment)).toMatchObject({ error: expect.stringContaining("--project") });
  expect(parseOptions([...args, "--project", "p"], {})).toMatchObject({
    error: expect.stringContaining("AGENT_API_KEY"),
  });
  expect(parseOptions([...args, "--project", "p"], environment)).toMatchObject({ apiKey: "mint_x", project: "p" });
});

test("takes the positional argument as the prompt", () => {
  expect(parseOptions(["Add a page 'Limits'", "--keep"], {})).toMatchObject({
    prompt: "Add a page 'Limits'",
    keep: true,
  });
  expect(parseOptions(["--base-url", "https://example.com", "--keep"], {})).toEqual({ error: expect.any(String) });
});

test.each([[["--nope"]], [["--follow-up"]], [["two", "words"]], [["--fail", "--time-out"]]])(
  "rejects %j and says why",
  (args) => {
    expect(parseOptions(args, {})).toEqual({ error: expect.any(String) });
  },
);
