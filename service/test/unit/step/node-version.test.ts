import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";

const versions = '{...process.versions,node:"20.20.2"}';
const oldNode = `data:text/javascript,Object.defineProperty(process,"versions",{value:${versions}})`;

test.each(["src/action/index.ts", "service/step/index.ts"])("%s says that Node is too old, once", (file) => {
  const state = join(temporaryFolder(), "state");
  writeFileSync(state, "");
  const run = (environment: Record<string, string>) =>
    spawnSync(process.execPath, ["--import", oldNode, resolve(import.meta.dirname, "../../../..", file)], {
      env: { PATH: process.env.PATH, GITHUB_STATE: state, ...environment },
      encoding: "utf8",
    });
  const { stdout, status } = run({});
  expect(stdout).toMatch(/^::error .*needs Node 24, and this runner has 20\.20\.2\. Nothing was started\.\n$/);
  expect(status).toBe(1);
  // Only the service's step has `post`.
  if (readFileSync(state, "utf8") !== "")
    expect(run({ STATE_started: "true" })).toMatchObject({ stdout: "", status: 0 });
});
