import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/metadata.ts";

const page = readFileSync(resolve(root, "docs/reliability.md"), "utf8");
const rows = [...page.matchAll(/^\| (.+) \| `((?:e2e|integration|unit)\/[\w/-]+)` › (.+) \|$/gm)];

test("the table of faults has rows to check", () => {
  expect(rows.length).toBeGreaterThan(25);
});

test.each(rows.map(([, row = "", file = "", name = ""]) => ({ fault: row.split(" | ")[0], file, name })))(
  "the test that shows: $fault",
  ({ file, name }) => {
    const text = readFileSync(resolve(root, "test", `${file}.test.ts`), "utf8");
    expect(text).toContain(`"${name}"`);
  },
);
