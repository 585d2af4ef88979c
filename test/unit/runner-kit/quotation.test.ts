import fc from "fast-check";
import { fromMarkdown } from "mdast-util-from-markdown";
import { expect, test } from "vitest";
import { quote, unquote } from "../../../src/runner-kit/quotation.ts";
import { anyText } from "../../support/any-text.ts";

type Node = ReturnType<typeof fromMarkdown> | ReturnType<typeof fromMarkdown>["children"][number];

/** Returns a quotation without the character that breaks mentions and the like. */
const visible = (text: string, maxLines?: number): string => quote(text, maxLines).replaceAll("\u200b", "");

test.each([
  ["paragraphs", "One.\n\nTwo,\nwith two lines.", "> One.\n>\n> Two,  \n> with two lines."],
  ["a title", "## Summary\nDone.", "> **Summary**  \n> Done."],
  ["lists", "- a\n  - b\n3. c", "> - a  \n>   - b  \n> 3. c"],
  ["code and emphasis", "Run `a <b>` **now**, my_file, __init__", "> Run `a <b>` **now**, my_file, \\_\\_init\\_\\_"],
  ["a block of code", "So:\n```js\nif (a < b) x;\n```\nDone", "> So:\n> ```\n> if (a < b) x;\n> ```\n> Done"],
  ["a block without an end", "~~~\n```\n# x", "> ````\n> ```\n> # x\n> ````"],
  ["a table", "| a | b |\n|---|---|\nc", "> ```\n> | a | b |\n> |---|---|\n> ```\n> c"],
  ["Persian, Sinhala, emoji and flags", "می‌خواهم ශ්‍රී 👨‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇩🇪", "> می‌خواهم ශ්‍රී 👨‍👩‍👧‍👦 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇩🇪"],
])("keeps %s", (_what, text, quoted) => {
  expect(visible(text)).toBe(quoted);
});

test.each([
  ["links and images", "[a](b) ![c](d)", "> \\[a\\](b) !\\[c\\](d)"],
  ["HTML and entities", "<img src=x> &#64;x", "> \\<img src=x> \\&#64;x"],
  ["a title below its line", "Title\n---\n===", "> Title  \n> \\---  \n> \\==="],
  ["formulas", "$5 and $6", "> <span>$</span>5 and <span>$</span>6"],
  ["code that does not end", "`a ``b``` <i>", "> \\`a \\`\\`b\\`\\`\\` \\<i>"],
  ["an escape of theirs", "\\[a](b) \\`<i>`", "> \\\\\\[a\\](b) \\\\`<i>`"],
  ["blocks in blocks", "> > a\n- - - b\n1. 2. c", "> \\> > a  \n> - \\- - b  \n> 1. 2\\. c"],
  ["an alert", "[!CAUTION]\nx", "> \\[!CAUTION\\]  \n> x"],
])("shows %s as text", (_what, text, quoted) => {
  expect(visible(text)).toBe(quoted);
});

test.each([
  "@octocat",
  "#1",
  "GH-1",
  "https://a.example",
  "www.a.example",
  "a@b.example",
  "<!-- agent-job -->",
  "[skip ci]",
])("breaks %s, also in code", (text) => {
  for (const place of [text, `\`${text}\``, `~~~\n${text}\n~~~`]) expect(quote(place)).not.toContain(text);
});

/** Returns the kinds of the nodes of a text, as Markdown. */
function kindsOf(text: string): Set<string> {
  const kinds = new Set<string>();
  const visit = (node: Node): void => {
    kinds.add(node.type === "html" ? node.value : node.type);
    if ("children" in node) node.children.forEach(visit);
  };
  visit(fromMarkdown(text));
  return kinds;
}

test("is one quotation without links, images and HTML, whatever the text is, and is read again", () => {
  const fragment = fc.oneof(
    fc.constantFrom(
      ..."` `` ``` ~~~ \n \n\n - * + 1. > # --- === | [ ] (a) ![ < <b> & &#64; @a #1 \\ ** _ $ :".split(" "),
      ...[
        " ",
        "    ",
        "- ",
        "> ",
        "\n```\n",
        "\n|-|\n",
        "\n--|--\n",
        "[a]: b",
        "<!-- x -->",
        "</blockquote>",
        "www.a.b",
      ],
    ),
    anyText(),
  );
  const safe =
    "root blockquote paragraph text list listItem emphasis strong inlineCode code break thematicBreak <span> </span>";
  fc.assert(
    fc.property(fc.array(fragment, { maxLength: 25 }), (fragments) => {
      const quoted = quote(fragments.join(""));
      expect([...kindsOf(quoted)].filter((kind) => !safe.split(" ").includes(kind))).toEqual([]);
      expect(fromMarkdown(quoted).children.map(({ type }) => type)).toEqual(["blockquote"]);
      const read = unquote([...quoted.split("\n"), "", "> x"], 0);
      expect(read?.end).toBe(quoted.split("\n").length - 1);
      expect(quote(read?.text ?? "")).toBe(quoted);
    }),
  );
});

test("a text that is no quotation is none", () => {
  expect(unquote(["a", "> b"], 0)).toBeUndefined();
});

test.each(["x", "`", "$", "`a\n", "\n", "~~~\n`"])(
  "is short enough for a body, however long the text is: %j",
  (text) => {
    const quoted = quote(text.repeat(100_000));
    expect(quoted.length).toBeLessThanOrEqual(20_000);
    if (text.trim() === text) expect(quoted.endsWith("> \\[truncated\\]")).toBe(true);
    expect(visible("a\nb\nc", 2)).toBe("> a  \n> b\n>\n> \\[truncated\\]");
  },
);
