import { expect, test } from "vitest";
import { parseOperatorSettings, settingVariables } from "../../../src/git/settings.ts";

test("keeps the operator's settings for transfers, in their order, and no others", () => {
  const list = [
    ["system", "credential.helper\nold"],
    ["global", "credential.helper\n"],
    ["global", "credential.helper\n!gh auth\ngit-credential"],
    ["global", "http.sslverify"],
    ["global", "url.git@example.com:.insteadof\nhttps://example.com/"],
    ["global", "core.sshcommand\nssh -i key"],
    ["global", "core.hookspath\n/hooks"],
    ["global", "filter.lfs.clean\ngit-lfs clean"],
    ["global", "include.path\n/other"],
    ["global", "filter.http.clean\nx"],
    ["global", "filter.core.sshcommand\nx"],
    ["global", "core.askpassword\nx"],
    ["global", "filter.safe.directory\nx"],
    ["global", "safe.directory.x\nx"],
    ["global", "safe.directory\n/srv/docs"],
    ["local", "credential.helper\nof-an-agent"],
  ];
  const settings = parseOperatorSettings(list.map((entry) => `${entry.join("\0")}\0`).join(""));
  expect(settings).toEqual([
    ["credential.helper", "old"],
    ["credential.helper", ""],
    ["credential.helper", "!gh auth\ngit-credential"],
    ["http.sslverify", "true"],
    ["url.git@example.com:.insteadof", "https://example.com/"],
    ["core.sshcommand", "ssh -i key"],
    ["safe.directory", "/srv/docs"],
  ]);
  expect(settingVariables(settings.slice(4, 6))).toEqual({
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: "url.git@example.com:.insteadof",
    GIT_CONFIG_VALUE_0: "https://example.com/",
    GIT_CONFIG_KEY_1: "core.sshcommand",
    GIT_CONFIG_VALUE_1: "ssh -i key",
  });
});
