import { expect, test } from "vitest";
import { parseOptions } from "../../tools/demo-options.ts";

test("without options: a job with a pull request, on this machine", () => {
  expect(parseOptions([], {})).toMatchObject({ prompt: expect.stringContaining("Add a page") });
  expect(parseOptions([], {})).toMatchObject({ scene: undefined, baseUrl: undefined, project: "demo" });
});

test.each([
  ["--no-changes", "no-changes"],
  ["--fail", "failed"],
  ["--time-out", "timed-out"],
])("%s: %s", (option, scene) => {
  expect(parseOptions([option], {})).toMatchObject({ scene });
});

test("a real service needs a project and a key", () => {
  const args = ["--base-url", "https://example.com"];
  const environment = { AGENT_API_KEY: "mint_x" };
  expect(parseOptions(args, environment)).toMatchObject({ problem: expect.stringContaining("--project") });
  expect(parseOptions([...args, "--project", "p"], {})).toMatchObject({
    problem: expect.stringContaining("AGENT_API_KEY"),
  });
  expect(parseOptions([...args, "--project", "p"], environment)).toMatchObject({ apiKey: "mint_x", project: "p" });
});

test("the prompt is the argument without a name", () => {
  expect(parseOptions(["Add a page 'Limits'", "--keep"], {})).toMatchObject({
    prompt: "Add a page 'Limits'",
    keep: true,
  });
  expect(parseOptions(["--base-url", "https://example.com", "--keep"], {})).toEqual({ problem: expect.any(String) });
});

test.each([[["--nope"]], [["--follow-up"]], [["two", "words"]], [["--fail", "--time-out"]]])(
  "%j is refused with its reason",
  (args) => {
    expect(parseOptions(args, {})).toEqual({ problem: expect.any(String) });
  },
);
