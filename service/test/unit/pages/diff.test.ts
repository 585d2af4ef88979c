import { expect, test } from "vitest";
import { parseDiff } from "../../../src/pages/diff.ts";

test("parses line numbers, renames and binary files, and lines that look like headers", () => {
  const files = parseDiff(
    [
      "diff --git a/docs/a.md b/docs/a.md",
      "index 111..222 100644",
      "--- a/docs/a.md",
      "+++ b/docs/a.md",
      "@@ -1,3 +1,4 @@ A",
      " one",
      "--- two",
      "+++ two",
      "+diff --git a/x b/x",
      " three",
      "\\ No newline at end of file",
      "diff --git a/old.md b/new.md",
      "similarity index 100%",
      "rename from old.md",
      "rename to new.md",
      "diff --git a/x b/y.md b/x b/y.md",
      "index 111..222 100644",
      "--- a/x b/y.md\t",
      "+++ b/x b/y.md\t",
      "@@ -1 +1 @@",
      "-1",
      "+2",
      "diff --git a/logo.png b/logo.png",
      "new file mode 100644",
      "Binary files /dev/null and b/logo.png differ",
      "",
    ].join("\n"),
  );
  expect(files.map(({ title }) => title)).toEqual(["docs/a.md", "old.md → new.md", "x b/y.md", "logo.png"]);
  expect(files[0]?.hunks[0]?.lines).toEqual([
    { kind: "context", text: "one", before: 1, after: 1 },
    { kind: "removed", text: "-- two", before: 2 },
    { kind: "added", text: "++ two", after: 2 },
    { kind: "added", text: "diff --git a/x b/x", after: 3 },
    { kind: "context", text: "three", before: 3, after: 4 },
    { kind: "marker", text: "No newline at end of file" },
  ]);
  expect(files[1]?.extendedHeaders).toEqual(["similarity index 100%"]);
  expect(files[3]?.extendedHeaders).toContain("Binary files /dev/null and b/logo.png differ");
});

const parse = (...lines: string[]) => parseDiff(lines.map((line) => `${line}\n`).join(""));

test("names a renamed file by both paths, also if it was changed", () => {
  const [file] = parse(
    "diff --git a/docs/old name.md b/new.md",
    "similarity index 90%",
    "rename from docs/old name.md",
    "rename to new.md",
    "index 111..222 100644",
    "--- a/docs/old name.md\t",
    "+++ b/new.md",
    "@@ -1 +1 @@",
    "-1",
    "+2",
  );
  expect(file).toEqual({
    title: "docs/old name.md → new.md",
    extendedHeaders: ["similarity index 90%"],
    hunks: [
      {
        header: "@@ -1 +1 @@",
        lines: [
          { kind: "removed", text: "1", before: 1 },
          { kind: "added", text: "2", after: 1 },
        ],
      },
    ],
  });
});

test("numbers the lines of every hunk, and finds its end by the sizes in its header", () => {
  const [one, two, ...others] = parse(
    "diff --git a/a.md b/a.md",
    "--- a/a.md",
    "+++ b/a.md",
    "@@ -120,11 +131,12 @@ new mode",
    ...Array.from({ length: 10 }, (_, index) => ` ${index}`),
    "-old",
    "\\ No newline at end of file",
    "+rename to b.md",
    "+@@ -1 +1 @@",
    "\\ No newline at end of file",
    "@@ -200 +211,0 @@",
    "-last",
    "diff --git a/b.md b/b.md",
    "new mode 100755",
  );
  const [first, second] = one?.hunks ?? [];
  expect(first?.header).toBe("@@ -120,11 +131,12 @@ new mode");
  expect(first?.lines.slice(9)).toEqual([
    { kind: "context", text: "9", before: 129, after: 140 },
    { kind: "removed", text: "old", before: 130 },
    { kind: "marker", text: "No newline at end of file" },
    { kind: "added", text: "rename to b.md", after: 141 },
    { kind: "added", text: "@@ -1 +1 @@", after: 142 },
    { kind: "marker", text: "No newline at end of file" },
  ]);
  expect(second?.lines).toEqual([{ kind: "removed", text: "last", before: 200 }]);
  expect(one).toMatchObject({ title: "a.md", extendedHeaders: [] });
  expect(two).toEqual({ title: "b.md", extendedHeaders: ["new mode 100755"], hunks: [] });
  expect(others).toEqual([]);
});

test("shows the headers of an added, deleted or binary file, and of a changed mode, but not the others", () => {
  const header = (...lines: string[]) => parse("diff --git a/x b/x", ...lines)[0]?.extendedHeaders;
  for (const lines of [
    ["new file mode 100644"],
    ["deleted file mode 100644"],
    ["old mode 100644", "new mode 100755"],
    ["Binary files a/x and b/x differ"],
  ])
    expect(header(...lines)).toEqual(lines);
  expect(header("index 111..222 100644", "--- a/new file", "+++ b/new file")).toEqual([]);
});

test("names a file whose path Git quotes, and one that it cannot name", () => {
  const titles = parse(
    'diff --git "a/a\\tb.md" "b/a\\tb.md"',
    "diff --git a/a/b.md b/a/b.md",
    "diff --git x/a/b.md y/a/b.md",
  ).map(({ title }) => title);
  expect(titles).toEqual(["a\\tb.md", "a/b.md", "x/a/b.md y/a/b.md"]);
});

test("parses an empty diff", () => {
  expect(parseDiff("")).toEqual([]);
});
