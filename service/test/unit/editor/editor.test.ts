import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { applyInstruction } from "../../../src/editor/documentation.ts";
import { parseInstructions } from "../../../src/editor/instructions.ts";

function writeFiles(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

/** Follows a prompt and returns what the editor reports for each instruction. */
function edit(root: string, prompt: string): string[] {
  return parseInstructions(prompt).map((instruction) => applyInstruction(instruction, root));
}

const read = (root: string, file: string) => readFileSync(join(root, file), "utf8");

test.each([
  ['Add a page "Quickstart"', { kind: "add-page", title: "Quickstart" }],
  [
    "Please add a new page called 'Quick start' in 'guides' that says 'Go.'",
    { kind: "add-page", folder: "guides", text: "Go." },
  ],
  ["add a page “Quickstart”, with the text: “Run it.”", { kind: "add-page", title: "Quickstart", text: "Run it." }],
  [
    'Add a section "Limits" to "docs/api.md" saying "None."',
    { kind: "add-section", page: "docs/api.md", text: "None." },
  ],
  ["replace `foo` with `bar`", { kind: "replace", phrase: "foo", replacement: "bar" }],
  ['Change "a\'b" to "c"', { kind: "replace", phrase: "a'b", replacement: "c" }],
  ['Fix the link "old.md" to "new.md"', { kind: "fix-link", link: "old.md", replacement: "new.md" }],
  ['fix all links to "/a" so that it points to "/b"', { kind: "fix-link", link: "/a", replacement: "/b" }],
])("understands %s", (prompt, instruction) => {
  expect(parseInstructions(prompt)).toMatchObject([instruction]);
});

test.each(["", "Make it better", "Add a page", "replace everything", 'Badd a page "x"', 'add a page "never closed'])(
  "does not guess at %j",
  (prompt) => expect(parseInstructions(prompt)).toEqual([]),
);

test("follows several instructions in their order", () => {
  const root = writeFiles({ "docs/a.md": "# A\n\nOne.\n" });
  const reports = edit(
    root,
    'Replace "One" with "Two". Then add a section "Next" to "A" and replace "Two" with "Three".',
  );
  expect(reports).toEqual([
    'Replaced "One" with "Two" in docs/a.md.',
    'Added the section "Next" to docs/a.md.',
    'Replaced "Two" with "Three" in docs/a.md.',
  ]);
  expect(read(root, "docs/a.md")).toBe("# A\n\nThree.\n\n## Next\n");
});

test("adds a page next to the others, with their extension, and overwrites none", () => {
  const root = writeFiles({ "docs/a.mdx": "# A\n", "docs/b.mdx": "# B\n" });
  expect(edit(root, 'Add a page "Größe & Maß"')).toEqual(["Added the page docs/größe-maß.mdx."]);
  expect(edit(root, 'Add a page "A" that says "Gone"')).toEqual(["The page docs/a.mdx already exists."]);
  expect(read(root, "docs/a.mdx")).toBe("# A\n");
});

test("changes only whole link targets", () => {
  const root = writeFiles({ "a.md": "[x](old.md) [y](old.md#part) [z](older.md) old.md\n\n[r]: old.md\n" });
  edit(root, 'Fix the link "old.md" to "new.md"');
  expect(read(root, "a.md")).toBe("[x](new.md) [y](new.md#part) [z](older.md) old.md\n\n[r]: new.md\n");
});

test("takes phrases literally", () => {
  const root = writeFiles({ "a.md": "a.b $1 a+b\n" });
  edit(root, 'Replace "a.b" with "$& $1". Replace "a+b" with "(c)"');
  expect(read(root, "a.md")).toBe("$& $1 $1 (c)\n");
});

test("writes nothing outside the root, in .git or through a symbolic link", () => {
  const outside = writeFiles({ "secret.md": "# Secret\n\nphrase\n" });
  const root = writeFiles({ "docs/a.md": "# A\n", ".git/config.md": "phrase\n" });
  symlinkSync(outside, join(root, "linked"));
  symlinkSync(join(outside, "secret.md"), join(root, "docs/secret.md"));
  const prompts = [
    'Add a page "x" in "../"',
    'Add a page "x" in "/tmp"',
    'Add a page "x" in "linked"',
    'Add a page "x" in ".git/hooks"',
    'Add a page "../../x"',
    'Add a section "x" to "secret"',
    'Add a section "x" to "../secret.md"',
    'Replace "phrase" with "gone"',
  ];
  for (const prompt of prompts) edit(root, prompt);
  expect(readdirSync(outside)).toEqual(["secret.md"]);
  expect(read(outside, "secret.md")).toBe("# Secret\n\nphrase\n");
  expect(read(root, ".git/config.md")).toBe("phrase\n");
  expect(readdirSync(join(root, ".git"))).toEqual(["config.md"]);
  expect(readdirSync(join(root, "docs")).sort()).toEqual(["a.md", "secret.md", "x.md"]);
});

test.each([
  'Please do not replace "a" with "b"',
  'Never add a page "x"',
  'Don’t fix the link "a" to "b"',
  'Go on without\nadd a page "x"',
])("does not follow the negated instruction %j", (prompt) => expect(parseInstructions(prompt)).toEqual([]));

test("parses hostile prompts and pages in linear time", () => {
  const hostile = [
    `add${" ".repeat(200_000)}page`,
    `add page "x" with${" ".repeat(200_000)}`,
    "“".repeat(200_000),
    'add page "'.repeat(50_000),
  ];
  for (const prompt of hostile) expect(parseInstructions(prompt).length).toBeLessThanOrEqual(50_000);
  const root = writeFiles({ "a.md": " \n".repeat(200_000) });
  expect(edit(root, 'Fix the link "a" to "b"')).toEqual(['No link to "a" was found.']);
});

test("leaves a page alone that is not UTF-8", () => {
  const root = writeFiles({ "b.md": "phrase\n" });
  writeFileSync(join(root, "a.md"), Buffer.from("caf\xe9 phrase\n", "latin1"));
  expect(edit(root, 'Replace "phrase" with "word"')).toEqual(['Replaced "phrase" with "word" in b.md.']);
  expect(readFileSync(join(root, "a.md"), "latin1")).toBe("caf\xe9 phrase\n");
});

test("follows an instruction after a negation that is about something else", () => {
  expect(parseInstructions('Do not worry. Replace "a" with "b"')).toMatchObject([{ kind: "replace" }]);
  expect(parseInstructions('Do not   replace "a" with "b"')).toEqual([]);
});

describe("adding a page", () => {
  test.each([
    ['Add a page "Limits"', "docs/limits.md", "# Limits\n"],
    ['Add a page "Limits" that says "None."', "docs/limits.md", "# Limits\n\nNone.\n"],
    ['Add a page "--- (Limits) ---"', "docs/limits.md", "# --- (Limits) ---\n"],
    ['Add a page "Limits" in "new/folder"', "new/folder/limits.md", "# Limits\n"],
    [`Add a page "${"x".repeat(90)}"`, `docs/${"x".repeat(80)}.md`, `# ${"x".repeat(90)}\n`],
  ])("%s", (prompt, page, text) => {
    const root = writeFiles({ "README.md": "# Read me\n", "docs/a.md": "# A\n" });
    expect(edit(root, prompt)).toEqual([`Added the page ${page}.`]);
    expect(read(root, page)).toBe(text);
  });

  test("puts it next to the others if there is no folder docs", () => {
    const root = writeFiles({ "README.md": "# Read me\n", "b.mdx": "# B\n" });
    expect(edit(root, 'Add a page "A"')).toEqual(["Added the page a.md."]);
  });

  test.each([
    ['Add a page "..."', 'The title "..." has no letter or digit for a file name.'],
    ['Add a page "x" in "a.md"', '"a.md" is not a folder in this repository.'],
    ['Add a page "x" in "a.md/b"', '"a.md/b" is not a folder in this repository.'],
    ['Add a page "x" in "a\\b"', '"a\\b" is not a folder in this repository.'],
    ['Add a page "x" in "sub/.GIT"', '"sub/.GIT" is not a folder in this repository.'],
    ['Add a page "x" in "../beside"', '"../beside" is not a folder in this repository.'],
  ])("does not follow %s", (prompt, report) => {
    const root = writeFiles({ "a.md": "# A\n" });
    expect(edit(root, prompt)).toEqual([report]);
    expect(readdirSync(root)).toEqual(["a.md"]);
  });
});

describe("adding a section", () => {
  const files = {
    "docs/api.md": "# The API\n\nText.\n\n\n",
    "docs/api/limits.mdx": "Text first.\n#   Limits of use  \n",
    "docs/größe-maß.md": "",
    "docs/old.mdx.md": "## Old API\n",
    "z.md.txt": "",
    "z.mdx": "# Z#\n\n##Old\nNew section\n",
  };

  test.each([
    ["docs/api.md", "docs/api.md"],
    ["docs/api", "docs/api.md"],
    ["api", "docs/api.md"],
    ["api.md", "docs/api.md"],
    ["The API", "docs/api.md"],
    ["limits.mdx", "docs/api/limits.mdx"],
    ["Limits of use", "docs/api/limits.mdx"],
    ["Größe & Maß", "docs/größe-maß.md"],
    ["docs/api/limits", "docs/api/limits.mdx"],
    ["z", "z.mdx"],
    ["docs/old.mdx", "docs/old.mdx.md"],
  ])('finds the page "%s"', (name, page) => {
    const root = writeFiles(files);
    expect(edit(root, `Add a section "New" to "${name}"`)).toEqual([`Added the section "New" to ${page}.`]);
  });

  test.each(["other", "e API", "text", "pi", "The", "Limits of", "Old API"])('does not find the page "%s"', (name) => {
    expect(edit(writeFiles(files), `Add a section "New" to "${name}"`)).toEqual([`The page "${name}" was not found.`]);
  });

  test("prefers a page's path to its name, and its name to a title", () => {
    const root = writeFiles({ "a/b.md": "# c\n", "a/d.md": "# b\n", "b.md": "", "c.md": "" });
    for (const [name, page] of [
      ["b", "b.md"],
      ["c", "c.md"],
    ])
      expect(edit(root, `Add a section "New" to "${name}"`)).toEqual([`Added the section "New" to ${page}.`]);
  });

  test("puts it at the end, with its text", () => {
    const root = writeFiles(files);
    edit(root, 'Add a section "More" to "api". Add a section "Last" to "api" that says "Bye."');
    expect(read(root, "docs/api.md")).toBe("# The API\n\nText.\n\n## More\n\n## Last\n\nBye.\n");
  });

  test("does not repeat one of any level, but text that is no heading does not count", () => {
    const root = writeFiles(files);
    for (const title of ["Old", "Z#"])
      expect(edit(root, `Add a section "${title}" to "z"`)).toEqual([
        `The page z.mdx already has a section "${title}".`,
      ]);
    expect(edit(root, 'Add a section "New section" to "z"')).toEqual(['Added the section "New section" to z.mdx.']);
    expect(edit(root, 'Add a section "New section" to "z"')).toEqual([
      'The page z.mdx already has a section "New section".',
    ]);
  });
});

test("says that nothing was found, and what was changed", () => {
  const root = writeFiles({ "a.md": "[x](old.md)\n", "b.md": "[x](old.md)\n", "c.md": "none\n" });
  expect(edit(root, 'Replace "phrase" with "x"')).toEqual(['"phrase" was not found in the documentation.']);
  expect(edit(root, 'Fix the link "old.md" to "new.md"')).toEqual([
    'Links to "old.md" now point to "new.md" in a.md, b.md.',
  ]);
});

test("does not write a page that it does not change", () => {
  const root = writeFiles({ "a.md": "one\n", "b.md": "two\n" });
  const before = statSync(join(root, "b.md")).mtimeMs;
  utimesSync(join(root, "b.md"), 0, 0);
  edit(root, 'Replace "one" with "1"');
  expect(before).toBeGreaterThan(0);
  expect(statSync(join(root, "b.md")).mtimeMs).toBe(0);
});

test("edits pages in folders of any depth, but not those of packages", () => {
  const files = {
    "a/b/c.mdx": "phrase\n",
    "node_modules/x/a.md": "phrase\n",
    "a/node_modules/x.md": "phrase\n",
    "my.github/a.md": "phrase\n",
    "my.git/a.md": "phrase\n",
    "a.txt": "phrase\n",
  };
  const root = writeFiles(files);
  mkdirSync(join(root, "folder.md"));
  edit(root, 'Replace "phrase" with "word"');
  const changed = Object.keys(files).filter((file) => read(root, file) === "word\n");
  expect(changed).toEqual(["a/b/c.mdx", "my.github/a.md", "my.git/a.md"]);
});
