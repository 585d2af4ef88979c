import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/support/step.ts";
import { programPaths } from "../../../../src/agents/sandbox/programs.ts";

/** Creates files with the given content; `-> path` is a link. Returns their folder. */
function install(files: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    if (content.startsWith("-> ")) symlinkSync(content.slice(3), file);
    else writeFileSync(file, content.replaceAll("$FOLDER", folder), { mode: 0o755 });
  }
  return folder;
}

/** Returns the paths within the folder, relative to it. */
const paths = (folder: string, program: string, search: string[]) =>
  programPaths(program, search.map((name) => join(folder, name)).join(":"))
    .filter((path) => path.startsWith(`${folder}/`))
    .map((path) => path.slice(folder.length + 1))
    .sort();

test("finds a global npm package, and the Node that runs it, but no other folder of the home directory", () => {
  const folder = install({
    ".npm-global/bin/agent": "-> ../lib/node_modules/@acme/agent/cli.js",
    ".npm-global/lib/node_modules/@acme/agent/cli.js": "#!/usr/bin/env -S node --no-warnings\n",
    ".npm-global/share/notes": "",
    ".nvm/v24/bin/node": "",
    ".nvm/v24/lib/node_modules/npm/index.js": "",
    ".ssh/id": "",
  });
  expect(paths(folder, "agent", [".npm-global/bin", ".nvm/v24/bin"])).toEqual([
    ".npm-global/bin",
    ".npm-global/lib",
    ".npm-global/lib/node_modules",
    ".nvm/v24/bin",
    ".nvm/v24/lib",
  ]);
});

test("finds a Python environment through its interpreter", () => {
  const folder = install({
    ".local/bin/agent": "-> ../share/uv/tools/agent/bin/agent",
    ".local/share/uv/tools/agent/bin/agent": "#!$FOLDER/.local/share/uv/tools/agent/bin/python\n",
    ".local/share/uv/tools/agent/bin/python": "-> ../../../python/bin/python3",
    ".local/share/uv/tools/agent/lib/site.py": "",
    ".local/share/uv/tools/agent/pyvenv.cfg": "",
    ".local/share/uv/python/bin/python3": "",
    ".local/share/uv/python/lib/os.py": "",
    ".local/share/keyrings/login": "",
    ".local/state/agent-job-service/jobs.sqlite": "",
  });
  expect(paths(folder, "agent", [".local/bin"])).toEqual([
    ".local/bin",
    ".local/share/uv/python/bin",
    ".local/share/uv/python/lib",
    ".local/share/uv/tools/agent/bin",
    ".local/share/uv/tools/agent/lib",
    ".local/share/uv/tools/agent/pyvenv.cfg",
  ]);
});

test("finds an interpreter in a folder whose name is not ASCII", () => {
  const folder = install({
    "bin/agent": "#!$FOLDER/jürgen/bin/python\n",
    "jürgen/bin/python": "",
    "jürgen/lib/os.py": "",
  });
  expect(paths(folder, "agent", ["bin"])).toContain("jürgen/bin");
});

test("takes a single file as the whole program, and a link with its target", () => {
  const folder = install({
    "bin/agent": "-> ../versions/2.1.0",
    "versions/2.1.0": "",
    "versions/other": "",
    "home/agent.sh": "#!/bin/sh\n",
    "home/.netrc": "",
    loop: "-> loop",
  });
  expect(paths(folder, "agent", ["bin"])).toEqual(["bin", "versions/2.1.0"]);
  expect(paths(folder, join(folder, "home/agent.sh"), [])).toEqual(["home/agent.sh"]);
  expect(paths(folder, join(folder, "loop"), [])).toEqual([]);
  expect(paths(folder, "missing", ["bin"])).toEqual([]);
});

test("finds the interpreter of a script, however its first line names it", () => {
  for (const [line, found] of [
    ["#! /usr/bin/env  tool\r", true],
    ["#!/usr/bin/env -S A=b tool --flag", true],
    ["#!$FOLDER/opt/tool/bin/tool -x", true],
    ["# !/usr/bin/env tool", false],
    ["/usr/bin/env tool", false],
    ["#!/usr/bin/env", false],
    ["#!/usr/bin/other tool", false],
  ] as const) {
    const folder = install({ "home/agent.sh": `${line}\nrest\n`, "opt/tool/bin/tool": "", "opt/tool/lib/x": "" });
    const interpreter = found ? ["opt/tool/bin", "opt/tool/lib"] : [];
    expect(paths(folder, join(folder, "home/agent.sh"), ["opt/tool/bin"]), line).toEqual([
      "home/agent.sh",
      ...interpreter,
    ]);
  }
});

test("looks programs up in absolute folders only, and takes only files that can be run", () => {
  const folder = install({ "a/agent/x": "", "b/agent": "", "c/agent": "" });
  chmodSync(join(folder, "b/agent"), 0o644);
  expect(paths(folder, "agent", ["a", "b", "c"])).toEqual(["c/agent"]);
  const relativePath = relative(process.cwd(), join(folder, "c"));
  expect(programPaths("agent", relativePath)).toEqual([]);
});

test("finds what a folder is really called", () => {
  const folder = install({ "v1/bin/agent": "", "v1/lib/x": "", current: "-> v1" });
  expect(paths(folder, "agent", ["current/bin"])).toEqual(["current/bin", "current/lib", "v1/bin", "v1/lib"]);
});

test("takes env itself for the interpreter if it names no program", () => {
  const folder = install({ "home/agent.sh": "#!$FOLDER/opt/tool/bin/env -i\n", "opt/tool/bin/env": "" });
  expect(paths(folder, join(folder, "home/agent.sh"), [])).toEqual(["home/agent.sh", "opt/tool/bin"]);
});

test("takes what cannot be read for the whole program", async () => {
  const folder = install({ "tools/agent/x": "" });
  const socket = join(folder, "tools/socket");
  const server = createServer().listen(socket);
  await once(server, "listening");
  expect(paths(folder, join(folder, "tools/agent"), [])).toEqual(["tools/agent"]);
  expect(paths(folder, socket, [])).toEqual(["tools/socket"]);
  server.close();
});

test.runIf(process.platform === "linux")("leaves no file open", () => {
  const folder = install({ "home/agent.sh": "#!/bin/sh\n" });
  const open = () => readdirSync("/proc/self/fd").length;
  const before = open();
  for (let count = 0; count < 100; count++) programPaths(join(folder, "home/agent.sh"), "");
  expect(open() - before).toBeLessThan(50);
});
