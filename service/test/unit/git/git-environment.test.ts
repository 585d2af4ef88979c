import { execFileSync } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { gitEnvironment } from "../../../src/git/git-environment.ts";

afterEach(() => vi.unstubAllEnvs());

test("contains neither secrets of the service nor the variables of a calling Git", () => {
  const ofGit = execFileSync("git", ["rev-parse", "--local-env-vars"], { encoding: "utf8" }).trim().split("\n");
  const secrets = ["AGENT_SERVICE_KEY", "GITHUB_TOKEN", "GH_TOKEN"];
  const removed = [...secrets, ...ofGit, "GIT_EXTERNAL_DIFF", "GIT_TEMPLATE_DIR", "GIT_AUTHOR_DATE"];
  for (const name of removed) vi.stubEnv(name, "x");
  vi.stubEnv("GIT_SSH_COMMAND", "ssh -i key");
  const environment = gitEnvironment();
  for (const name of removed) expect(environment).not.toHaveProperty(name);
  expect(environment).toMatchObject({ PATH: process.env.PATH, GIT_SSH_COMMAND: "ssh -i key" });
});
