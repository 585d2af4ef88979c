import { expect, test } from "vitest";
import { parseDiff } from "../../../../src/service/pulls/diff.ts";

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

test("parses an empty diff", () => {
  expect(parseDiff("")).toEqual([]);
});
