import { expect, test } from "vitest";
import { parseOptions } from "../../../src/service/options.ts";

const parse = (line: string, environment: Record<string, string> = {}) => parseOptions(line.split(" "), environment);

test("only the repository must be given", () => {
  expect(parse("--repository docs")).toMatchObject({
    repository: "docs",
    agent: { model: "documentation-editor" },
    projects: ["demo"],
    port: 0,
    timeLimitMs: 1_800_000,
    apiKey: undefined,
    github: undefined,
  });
});

test("all of it", () => {
  const options = parseOptions(
    [
      "--repository=git@github.com:acme/docs.git",
      "--agent=claude -p",
      "--agents=3",
      "--project=a",
      "--project=b",
    ].concat([
      "--port=4100",
      "--time-limit-minutes=0.5",
      "--archive-after-days=7",
      "--store=jobs.sqlite",
      "--model=opus",
    ]),
    { AGENT_SERVICE_KEY: "mint_key", GITHUB_TOKEN: "token" },
  );
  expect(options).toMatchObject({
    agent: { args: expect.arrayContaining(["claude -p"]), model: "opus" },
    agents: 3,
    projects: ["a", "b"],
    port: 4100,
    timeLimitMs: 30_000,
    archiveAfterDays: 7,
    apiKey: "mint_key",
    github: { owner: "acme", name: "docs", apiUrl: "https://api.github.com", token: "token" },
  });
});

test.each(["https://github.com/acme/docs", "https://github.com/acme/docs.git", "ssh://git@github.com/acme/docs.git"])(
  "pull requests of %s go to GitHub where there is a token",
  (address) => {
    expect(parse(`--repository ${address}`, { GITHUB_TOKEN: "t" })).toMatchObject({
      github: { owner: "acme", name: "docs" },
    });
    expect(parse(`--repository ${address}`)).toMatchObject({ github: undefined });
  },
);

test.each([
  ["", "Unexpected argument ''"],
  ["--port 1", "--repository is missing"],
  ["--repository x --port 70000", "--port takes a whole number"],
  ["--repository x --agents 0", "--agents takes a whole number"],
  ["--repository x --time-limit-minutes 0", "--time-limit-minutes takes a number above 0"],
  ["--repository x --time-limit-minutes 40000", "at most 10000"],
  ["--repository x --archive-after-days no", "--archive-after-days takes a number above 0"],
  ["--repository x --github acme/docs", "--github needs GITHUB_TOKEN"],
  ["--repository x --unknown", "Unknown option '--unknown'"],
])("%j is refused", (line, problem) => {
  expect(parse(line)).toMatchObject({ problem: expect.stringContaining(problem) });
});

test("help is help, whatever else is there", () => {
  expect(parse("--help --repository x")).toBe("help");
});

test("a key that no request could carry is refused", () => {
  expect(parse("--repository x", { AGENT_SERVICE_KEY: "my key" })).toMatchObject({
    problem: expect.stringContaining("blank"),
  });
});
