import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { presetAgent } from "../../../src/agents/presets.ts";
import { unconfined } from "../../../src/agents/sandbox/sandbox.ts";
import { unpackAgent } from "../../../src/agents/unpack.ts";

/** Returns Copilot's agent, with a program of the test in its place. */
function setUp() {
  const [folder, bin] = [temporaryFolder(), temporaryFolder()];
  const environment = {
    PATH: `${bin}:${process.env.PATH}`,
    COPILOT_GITHUB_TOKEN: "ghs_secret",
    HTTPS_PROXY: "http://me:ghs_secret@proxy",
  };
  const agent = presetAgent("copilot", environment);
  if (agent === undefined) throw new Error("no preset");
  const program = join(bin, "copilot");
  return {
    agent,
    target: join(folder, "programs/copilot"),
    write: (script: string) => {
      writeFileSync(program, `#!/bin/sh\n${script}\n`);
      chmodSync(program, 0o755);
    },
    unpack: () => unpackAgent(agent, folder, unconfined, environment),
  };
}

test("unpacks an agent once for each program, without the key, and lets it read the files", async () => {
  const { agent, target, write, unpack } = setUp();
  write('echo "$1" >> "$COPILOT_CACHE_HOME/unpacked"; env > "$COPILOT_CACHE_HOME/environment"');
  for (let start = 0; start < 2; start++) {
    const unpacked = await unpack();
    expect(unpacked.reads).toEqual([target]);
    expect(unpacked.environment).toEqual({ ...agent.environment, COPILOT_CACHE_HOME: target });
    expect(readFileSync(join(target, "unpacked"), "utf8")).toBe("--version\n");
  }
  expect(readFileSync(join(target, "environment"), "utf8")).not.toContain("ghs_secret");
  write("exit 0 # a newer version");
  await unpack();
  expect(existsSync(join(target, "unpacked"))).toBe(false);
});

test("says why an agent cannot be unpacked, and tries again at the next start", async () => {
  const { target, write, unpack } = setUp();
  write("echo 'no space left' >&2; exit 1");
  for (let start = 0; start < 2; start++)
    await expect(unpack()).rejects.toThrow(`the agent copilot cannot be unpacked in ${target}: no space left`);
});

test("leaves an agent that is missing to the check of programs", async () => {
  const { agent, unpack } = setUp();
  expect(await unpack()).toEqual(agent);
});
