import { expect, test } from "vitest";
import { findUnportable } from "../../../src/git/left-out.ts";

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
