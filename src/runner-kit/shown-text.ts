import { fromMarkdown } from "mdast-util-from-markdown";
import { invisible } from "./untrusted.ts";

type Root = ReturnType<typeof fromMarkdown>;

/** A text as GitHub's page shows it. */
export interface ShownText {
  /** The text of the same length in which a phrase is looked for: hidden parts are blank, with `withoutCode` also code, which quotes. */
  searched: string;
  /** Returns the text as it is shown, from an index on. Default: all of it. */
  from: (index?: number) => string;
  /** How many parts are hidden: comments, unused link definitions and invisible characters. */
  hiddenCount: number;
}

/** Comments as browsers find them in HTML, one without an end up to the end of the text; and tags, in which there are none. */
const markup =
  /(?<comment><!--(?:-?>|[\s\S]*?(?:--!?>|$))|<(?:[!?]|\/[^a-z])[^>\0]*>?)|<\/?[a-z](?:"[^"\0]*"?|'[^'\0]*'?|[^"'>\0])*/gi;

/** What hides nothing, and would take minutes in a text that is written for that. */
const extensions = [{ disable: { null: ["attention", "autolink", "characterReference"] } }];

/** Finds what a page does not show of a Markdown text. CommonMark: "HTML blocks", "Raw HTML", "Link reference definitions". */
export function readShown(text: string, { withoutCode = false } = {}): ShownText {
  const isHidden = new Uint8Array(text.length);
  const isBlank = new Uint8Array(text.length);
  // Only the HTML, at its place: a comment that is open at the end of one block hides the next blocks, too.
  const html = Array<string>(text.length).fill("\0");
  const used = new Set<string>();
  const definitions: [identifier: string, start: number, end: number][] = [];
  const visit = (node: Root | Root["children"][number]): void => {
    const { start, end } = node.position ?? {};
    const place = [start?.offset ?? 0, end?.offset ?? 0] as const;
    if (node.type === "html") for (let index = place[0]; index < place[1]; index++) html[index] = text[index] ?? "";
    if (node.type === "code" || node.type === "inlineCode") isBlank.fill(Number(withoutCode), ...place);
    if (node.type === "linkReference" || node.type === "imageReference") used.add(node.identifier);
    if (node.type === "definition") definitions.push([node.identifier, ...place]);
    if ("children" in node) node.children.forEach(visit);
  };
  visit(fromMarkdown(text, { extensions }));

  let hiddenCount = 0;
  const hide = (start: number, end: number): void => {
    hiddenCount += isHidden[start - 1] ? 0 : 1;
    isHidden.fill(1, start, end);
  };
  for (const { 0: found, index, groups } of html.join("").matchAll(markup))
    if (groups?.comment !== undefined) hide(index, index + found.length);
  // GitHub knows `[^1]: …` as a footnote.
  for (const [identifier, start, end] of definitions)
    if (!used.has(identifier) && !identifier.startsWith("^")) hide(start, end);
  const searched = text.replace(/[^\n]/g, (character, index: number) =>
    isHidden[index] || isBlank[index] ? " " : character,
  );
  for (const { 0: found, index } of text.matchAll(invisible)) hide(index, index + found.length);
  const from = (start = 0): string =>
    text.slice(start).replace(/[\s\S]/g, (character, index: number) => (isHidden[start + index] ? "" : character));
  return { searched, from, hiddenCount };
}
