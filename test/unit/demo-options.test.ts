import { expect, test } from "vitest";
import { parseOptions } from "../../tools/demo-options.ts";

test("without options: a job with a pull request, on this machine", () => {
  expect(parseOptions([], {})).toMatchObject({ scene: "pr-created", baseUrl: undefined, project: "demo" });
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

test.each([[["--nope"]], [["--prompt"]], [["extra"]], [["--fail", "--time-out"]]])(
  "%j is refused with its reason",
  (args) => {
    expect(parseOptions(args, {})).toEqual({ problem: expect.any(String) });
  },
);
