import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../support/metadata.ts";

const versions = '{...process.versions,node:"20.20.2"}';
const oldNode = `data:text/javascript,Object.defineProperty(process,"versions",{value:${versions}})`;

test("says that Node is too old", () => {
  const { stdout, status } = spawnSync(process.execPath, ["--import", oldNode, resolve(root, "src/action/index.ts")], {
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  expect(stdout).toMatch(/^::error .*needs Node 24, and this runner has 20\.20\.2\. Nothing was started\.\n$/);
  expect(status).toBe(1);
});
