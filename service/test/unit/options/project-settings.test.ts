import { expect, test } from "vitest";
import { createProjectSettings } from "../../../src/options/project-settings.ts";

const environment = { DEPLOY_TOKEN: "0123456789", REGION: "eu-west-1", GITHUB_TOKEN: "ghp_0123456789" };

test.each<[string, Parameters<typeof createProjectSettings>[0], string[]]>([
  ["the token", { repository: "docs" }, ["ghp_0123456789"]],
  [
    "the password of the repository's URL, as it is and not as the URL writes it,",
    { repository: "https://bot:p%40ss-word@git.example.com/docs.git" },
    ["ghp_0123456789", "p@ss-word"],
  ],
  [
    "a variable of --agent-env whose name is that of a secret",
    { repository: "docs", agentEnv: ["DEPLOY_TOKEN", "REGION"] },
    ["ghp_0123456789", "0123456789"],
  ],
])("%s is kept from changes", (_, input, expected) => {
  expect(createProjectSettings(input, environment).secrets.map(({ value }) => value)).toEqual(expected);
});
