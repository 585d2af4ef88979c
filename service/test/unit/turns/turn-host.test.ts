import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
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

describe("sessions in a home", () => {
  const pattern = ".cli/*/*.jsonl";

  test("are found by their pattern, unless their files are empty", async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, ".cli/project"), { recursive: true });
    writeFileSync(join(home, ".cli/project/empty.jsonl"), "");
    writeFileSync(join(home, ".cli/project/other.json"), "{}");
    symlinkSync("/nowhere", join(home, ".cli/project/link.jsonl"));
    expect(await turnHost.findSessions(home, pattern)).toEqual([]);
    writeFileSync(join(home, ".cli/project/some-id.jsonl"), "{}");
    expect(await turnHost.findSessions(home, pattern)).toEqual([".cli/project/some-id.jsonl"]);
    expect(await turnHost.findSessions(join(home, "missing"), pattern)).toEqual([]);
  });

  test("are not looked for without end", async () => {
    const home = temporaryFolder();
    mkdirSync(join(home, ".cli/project"), { recursive: true });
    for (const file of ["a", "b", "c"]) writeFileSync(join(home, `.cli/project/${file}.jsonl`), "{}");
    expect(await turnHost.findSessions(home, pattern)).toHaveLength(3);
    expect((await turnHost.findSessions(home, pattern, 4)).length).toBeLessThan(3);
  });
});
