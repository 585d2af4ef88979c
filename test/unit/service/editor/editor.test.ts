import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { carryOut } from "../../../../src/service/editor/documentation.ts";
import { readInstructions } from "../../../../src/service/editor/instructions.ts";
import { temporaryFolder } from "../../../support/step.ts";

function tree(files: Readonly<Record<string, string>>): string {
  const root = temporaryFolder();
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

/** Does what a prompt says, and gives what was said and what a file holds then. */
function edit(root: string, prompt: string): string[] {
  return readInstructions(prompt).map((instruction) => carryOut(instruction, root));
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
  ["replace `foo` with `bar`", { kind: "replace", phrase: "foo", by: "bar" }],
  ['Change "a\'b" to "c"', { kind: "replace", phrase: "a'b", by: "c" }],
  ['Fix the link "old.md" to "new.md"', { kind: "fix-link", link: "old.md", by: "new.md" }],
  ['fix all links to "/a" so that it points to "/b"', { kind: "fix-link", link: "/a", by: "/b" }],
])("%s is understood", (prompt, instruction) => {
  expect(readInstructions(prompt)).toMatchObject([instruction]);
});

test.each(["", "Make it better", "Add a page", "replace everything", 'Badd a page "x"', 'add a page "never closed'])(
  "%j is not understood, and nothing is guessed",
  (prompt) => expect(readInstructions(prompt)).toEqual([]),
);

test("several instructions are carried out in their order", () => {
  const root = tree({ "docs/a.md": "# A\n\nOne.\n" });
  const said = edit(root, 'Replace "One" with "Two". Then add a section "Next" to "A" and replace "Two" with "Three".');
  expect(said).toEqual([
    'Replaced "One" with "Two" in docs/a.md.',
    'Added the section "Next" to docs/a.md.',
    'Replaced "Two" with "Three" in docs/a.md.',
  ]);
  expect(read(root, "docs/a.md")).toBe("# A\n\nThree.\n\n## Next\n");
});

test("a page goes where the others are, with their extension, and never over one that is there", () => {
  const root = tree({ "docs/a.mdx": "# A\n", "docs/b.mdx": "# B\n" });
  expect(edit(root, 'Add a page "Größe & Maß"')).toEqual(["Added the page docs/größe-maß.mdx."]);
  expect(edit(root, 'Add a page "A" that says "Gone"')).toEqual(["There is a page docs/a.mdx already."]);
  expect(read(root, "docs/a.mdx")).toBe("# A\n");
});

test("only whole link targets are changed, and text that looks like one is left", () => {
  const root = tree({ "a.md": "[x](old.md) [y](old.md#part) [z](older.md) old.md\n\n[r]: old.md\n" });
  edit(root, 'Fix the link "old.md" to "new.md"');
  expect(read(root, "a.md")).toBe("[x](new.md) [y](new.md#part) [z](older.md) old.md\n\n[r]: new.md\n");
});

test("what the phrases hold is taken as it is", () => {
  const root = tree({ "a.md": "a.b $1 a+b\n" });
  edit(root, 'Replace "a.b" with "$& $1". Replace "a+b" with "(c)"');
  expect(read(root, "a.md")).toBe("$& $1 $1 (c)\n");
});

test("nothing is written outside the tree, in .git, or through a link", () => {
  const outside = tree({ "secret.md": "# Secret\n\nphrase\n" });
  const root = tree({ "docs/a.md": "# A\n", ".git/config.md": "phrase\n" });
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
])("%j is heeded: nothing of it is done", (prompt) => expect(readInstructions(prompt)).toEqual([]));

test("a text that is made to be slow to read is read at once, and a page of blanks too", () => {
  const hostile = [
    `add${" ".repeat(200_000)}page`,
    `add page "x" with${" ".repeat(200_000)}`,
    "“".repeat(200_000),
    'add page "'.repeat(50_000),
  ];
  for (const prompt of hostile) expect(readInstructions(prompt).length).toBeLessThanOrEqual(50_000);
  const root = tree({ "a.md": " \n".repeat(200_000) });
  expect(edit(root, 'Fix the link "a" to "b"')).toEqual(['No link goes to "a".']);
});

test("a page that is not in UTF-8 is left as it is", () => {
  const root = tree({ "b.md": "phrase\n" });
  writeFileSync(join(root, "a.md"), Buffer.from("caf\xe9 phrase\n", "latin1"));
  expect(edit(root, 'Replace "phrase" with "word"')).toEqual(['Replaced "phrase" with "word" in b.md.']);
  expect(readFileSync(join(root, "a.md"), "latin1")).toBe("caf\xe9 phrase\n");
});
