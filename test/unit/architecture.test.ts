import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve, sep } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/metadata.ts";

const source = resolve(root, "src");
const files = globSync("**/*.ts", { cwd: source }).map((file) => file.replaceAll(sep, "/"));

/** What a file imports: files of `src` by their path in it, packages by their name. */
function importsOf(file: string, withoutTypes = false): string[] {
  const all = readFileSync(join(source, file), "utf8");
  const text = withoutTypes ? all.replace(/^import type .*$/gm, "") : all;
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, specifier = ""]) =>
    specifier.startsWith(".") ? normalize(join(dirname(file), specifier)).replaceAll(sep, "/") : specifier,
  );
}

const imports = files.flatMap((file) => importsOf(file).map((target) => ({ file, target })));
const valueImports = files.flatMap((file) => importsOf(file, true).map((target) => ({ file, target })));
const area = (path: string) => path.split("/")[0];

test("there are files to look at", () => {
  expect(files.length).toBeGreaterThan(20);
  expect(imports.length).toBeGreaterThan(50);
});

test("action builds on client, and nothing else crosses between the parts", () => {
  const parts = ["action", "client", "service"];
  const crossings = imports.filter(
    ({ file, target }) => parts.includes(area(target) ?? "") && area(file) !== area(target),
  );
  expect(crossings.filter(({ file, target }) => !(area(file) === "action" && area(target) === "client"))).toEqual([]);
});

test("the toolkit and GitHub are each behind one file", () => {
  const packages = imports.filter(({ target }) => /^@(actions|octokit)\//.test(target));
  expect(packages.map(({ file, target }) => `${file} ${target}`).sort()).toEqual([
    "action/runner/github.ts @actions/github",
    "action/runner/github.ts @octokit/plugin-retry",
    "action/runner/github.ts @octokit/plugin-throttling",
    "action/runner/toolkit.ts @actions/core",
  ]);
  const staticImport = /^import (?!type).*"[^"]*runner\/github\.ts"/m;
  const users = files.filter((file) => staticImport.test(readFileSync(join(source, file), "utf8")));
  expect(users, "GitHub's client is loaded on demand").toEqual([]);
});

test("report and comments do not import each other, except for types", () => {
  const within = (path: string, folder: string) => path.startsWith(`action/${folder}/`);
  const crossings = valueImports.filter(
    ({ file, target }) =>
      (within(file, "report") && within(target, "comments")) || (within(file, "comments") && within(target, "report")),
  );
  expect(crossings).toEqual([]);
});

test("the service is built from Node alone", () => {
  const packages = imports.filter(({ file, target }) => area(file) === "service" && !target.startsWith("service/"));
  expect(packages.filter(({ target }) => !target.startsWith("node:"))).toEqual([]);
});

test("nothing imports the entry, and only the start imports the main story", () => {
  expect(imports.filter(({ target }) => target === "action/index.ts")).toEqual([]);
  expect(imports.filter(({ target }) => target === "action/main.ts")).toEqual([
    { file: "action/start.ts", target: "action/main.ts" },
  ]);
});

test("the network, the file system and the clock are each behind one file", () => {
  const users = (pattern: RegExp) => [
    ...new Set(
      imports.filter(({ file, target }) => area(file) !== "service" && pattern.test(target)).map(({ file }) => file),
    ),
  ];
  expect(users(/^node:(https?|net|tls)$/)).toEqual(["client/transport.ts"]);
  expect(users(/^node:fs/).sort()).toEqual(["action/inputs/prompt-file.ts", "action/runner/event-file.ts"]);
});
