import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { findHalves, findUnportable, namesNewSubmodule } from "../../../src/git/left-out.ts";

const bytes = (path: string): string => Buffer.from(path).toString("latin1");
const ascii = ["README.md", "docs/guide.md"];
const tracked = [...ascii, "docs/Übersicht.md"].map(bytes);

test.each<[why: string, names: string[], there?: string[]]>([
  [
    "",
    ["ガイド.md", "Größe.md", "中文.md", "Руководство.md", "“quote”.md", "a – b.md", "résumé.md", "Ünder.md"],
    ascii,
  ],
  ["Windows has no such names", ["a:b.md", "b\x01.md", "c\x85.md", "概要?.md", "nul.md", "end.", "d\x1b.md"]],
  ["its name differs from another one only in case", ["Guide.md", "ÜBERSICHT.md", "übersicht.md"]],
])("new pages with these names are left out because “%s”: %j", (why, names, there = tracked) => {
  for (const path of names.map((name) => bytes(`docs/${name}`)))
    expect([path, findUnportable([path], there).get(path) ?? ""]).toEqual([path, why]);
});

test("names that are no UTF-8 differ by their bytes", () => {
  expect(findUnportable(["docs/\xff.md", "docs/\xfe.md", "docs/\xc3.md", "docs/\xe3.md"], tracked)).toEqual(new Map());
});

test.each<[what: string, added: string[], gone: string[], leftOut: string[]]>([
  ["a file is renamed only in case", ["readme.md"], ["README.md"], []],
  ["a folder is", ["Docs/guide.md", "Docs/Übersicht.md"], ["docs/guide.md", "docs/Übersicht.md"], []],
  ["a part of a folder is", ["Docs/guide.md"], ["docs/guide.md"], ["Docs/guide.md"]],
  ["another file is gone", ["readme.md"], ["docs/guide.md"], ["readme.md"]],
])("of new names, these are left out if %s", (_, added, gone, leftOut) => {
  const staying = tracked.filter((path) => !gone.map(bytes).includes(path));
  expect([...findUnportable(added.map(bytes), staying).keys()]).toEqual(leftOut);
});

/** The ids of the contents "one\n" and "two\n". */
const [one, two] = ["5626abf0f72e58d7a153368ba57db4c673c0e171", "f719efd430d52bcfc8566a43b2eb655688d38871"];
test.each<[what: string, leftOut: string[], others: string[], halves: string[]]>([
  ["nothing is left out", [], [], []],
  ["a page is", ["docs/What is X?.md"], [], ["docs/a.md", "docs/Übersicht.md"]],
  ["a folder above the limits is", ["static/1.png", "static/2.png"], [], ["docs/a.md", "docs/Übersicht.md"]],
  ["a nested repository is", ["other/"], [], ["docs/a.md", "docs/Übersicht.md"]],
  ["packages are", ["node_modules/x/index.js", "node_modules/x/b.md"], [], []],
  ["packages are, with a file of the same name and another content", ["node_modules/x/a.md"], [], []],
  ["a folder with a tool's name is, with a file of the same name and content", ["docs/build/a.md"], [], ["docs/a.md"]],
  ["a file with another name is taken back", [], ["lib/new.md"], []],
  ["a file with the same name is taken back", [], ["lib/a.md"], ["docs/a.md"]],
  ["one with the same name in another case is", [], ["lib/ÜBERSICHT.md"], ["docs/Übersicht.md"]],
  ["a folder with a tool's name is ignored", [], ["build/a.md", "build/Übersicht.md"], ["docs/Übersicht.md"]],
])("of two deleted pages, these stay if %s", async (_, leftOut, others, halves) => {
  const tree = temporaryFolder();
  for (const [path, text] of [
    ["node_modules/x/a.md", "four\n"],
    ["docs/build/a.md", "one\n"],
    ["build/a.md", "three\n"],
    ["build/Übersicht.md", "two\n"],
  ] as const) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  const deleted = [
    { path: "docs/a.md", id: one },
    { path: bytes("docs/Übersicht.md"), id: two },
  ];
  expect(await findHalves(tree, deleted, leftOut.map(bytes), others.map(bytes))).toEqual(halves.map(bytes));
});

test.each<[text: string, isNew: boolean]>([
  ['[submodule "a"]\n\tpath = lib/a\n\turl = x\n', false],
  ['[submodule "a"]\n\tpath="ä b"\n', false],
  ['[submodule "a"]\n\tpath = lib/c\n', true],
  ["\n".repeat(50_000) + " ".repeat(40_000), false],
])("a file .gitmodules names a submodule that is new: %#", async (text, isNew) => {
  const tree = temporaryFolder();
  writeFileSync(join(tree, ".gitmodules"), text);
  expect(await namesNewSubmodule(tree, [{ path: "lib/a" }, { path: bytes("ä b") }])).toBe(isNew);
});
