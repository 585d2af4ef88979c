import { execFileSync } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { turnHost } from "../../../src/turns/turn-host.ts";

const secrets = [{ name: "KEY", value: "sk-0123456789" }];

test("secrets are hidden in a log, and nowhere that an agent has put in its place", async () => {
  const folder = temporaryFolder();
  const of = (name: string) => join(folder, name);
  const [log, link, pipe, empty] = [of("log"), of("link"), of("pipe"), of("empty")];
  writeFileSync(log, "| sk-0123456789\n| more\n");
  symlinkSync(log, link);
  execFileSync("mkfifo", [pipe]);
  writeFileSync(empty, "");
  await expect(turnHost.hideSecrets(link, secrets)).rejects.toThrow("ELOOP");
  expect(readFileSync(log, "utf8")).toContain("sk-");
  for (const file of [pipe, empty, of("missing"), log]) await turnHost.hideSecrets(file, secrets);
  expect(readFileSync(log, "utf8")).toBe("| *************\n| more\n");
});
