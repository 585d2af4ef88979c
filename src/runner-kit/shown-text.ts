import { createContext, Script } from "node:vm";
import { fromMarkdown } from "mdast-util-from-markdown";
import { invisible } from "./untrusted.ts";

type Root = ReturnType<typeof fromMarkdown>;

/** A text as GitHub's page shows it. */
export interface ShownText {
  /** The text of the same length in which a phrase is looked for: hidden parts are blank, with `withoutCode` also code, which quotes. */
  searched: string;
  /** Returns the text as it is shown, from an index on. Default: all of it. */
  from: (index?: number) => string;
  /** How many parts are hidden: comments, unused link definitions and footnotes, and invisible characters. */
  hiddenCount: number;
  /** Whether all of it is hidden, because it takes too long to read. */
  isUnread: boolean;
}

/** Comments as browsers find them in HTML, one without an end up to the end of the text; and tags, in which there are none. */
const markup =
  /(?<comment><!--(?:-?>|[\s\S]*?(?:--!?>|$))|<(?:[!?]|\/[^a-z])[^>\0]*>?)|<\/?[a-z](?:"[^"\0]*"?|'[^'\0]*'?|[^"'>\0])*/gi;

/** What hides nothing, and would take minutes in a text that is written for that. */
const extensions = [{ disable: { null: ["attention", "autolink", "characterReference"] } }];

/** How long a text may take, and all of a run together, in milliseconds. Usual ones take a few. */
const textLimitMs = 10_000;
let leftMs = 30_000;
const maxKnown = 20;

/** Node bounds the time of a script, with all that it calls. */
const script = new Script("run()");
const place = createContext();

/** What is hidden in the last texts: each is read several times. */
const known = new Map<string, Parts | undefined>();

/** Returns the result of a function; `undefined` if it fails, or takes too long: some texts take minutes, or more than the stack. */
function within<T>(limitMs: number, run: () => T): T | undefined {
  const startedAt = performance.now();
  try {
    place.run = run;
    return script.runInContext(place, { timeout: Math.max(1, Math.min(limitMs, Math.floor(leftMs))) });
  } catch {
    return undefined;
  } finally {
    leftMs -= performance.now() - startedAt;
  }
}

/** Parts of a text, each as its start and its end. */
interface Parts {
  hidden: (readonly [start: number, end: number])[];
  code: (readonly [start: number, end: number])[];
}

/** A footnote, which CommonMark takes for text, and what refers to one. GitHub shows only those that something refers to. */
const footnotes = /^ {0,3}\[\^([^\]\s]+)\]:/gm;
const footnoteReferences = /\[\^([^\]\s]+)\]/g;

/** Finds what a page does not show of a Markdown text. CommonMark: "HTML blocks", "Raw HTML", "Link reference definitions". */
function findHidden(text: string): Parts {
  const hidden: Parts["hidden"] = [];
  const code: Parts["code"] = [];
  // Only the HTML, at its place: a comment that is open at the end of one block hides the next blocks, too.
  const html = Array<string>(text.length).fill("\0");
  const used = new Set<string>();
  const definitions: [identifier: string, start: number, end: number][] = [];
  let [notesStart, notesEnd] = [0, 0];
  /** A footnote has the lines up to the next one, and indented text after the paragraph. */
  const findFootnotes = ([start, end]: readonly [number, number]): void => {
    const begun = [...text.slice(start, end).matchAll(footnotes)];
    if (begun[0]) notesStart = start + begun[0].index;
    for (const [index, { 1: name = "", index: from }] of begun.entries()) {
      const next = begun[index + 1]?.index;
      const more = next === undefined ? /^(?:\n[ \t]*(?=\n)|\n {4}.*)*/.exec(text.slice(end)) : undefined;
      notesEnd = next === undefined ? end + (more?.[0].length ?? 0) : start + next;
      definitions.push([`^${name.toLowerCase()}`, start + from, notesEnd]);
    }
  };
  const visit = (node: Root | Root["children"][number]): void => {
    const { start, end } = node.position ?? {};
    const place = [start?.offset ?? 0, end?.offset ?? 0] as const;
    if (node.type === "html") for (let index = place[0]; index < place[1]; index++) html[index] = text[index] ?? "";
    if (node.type === "code" || node.type === "inlineCode") code.push(place);
    if (node.type === "linkReference" || node.type === "imageReference") used.add(node.identifier);
    if (node.type === "definition") definitions.push([node.identifier, ...place]);
    if (node.type === "paragraph") findFootnotes(place);
    // Not what only a footnote refers to.
    for (const { 1: name = "", index } of node.type === "text" ? text.slice(...place).matchAll(footnoteReferences) : [])
      if (place[0] + index < notesStart || place[0] + index >= notesEnd) used.add(`^${name.toLowerCase()}`);
    if ("children" in node) node.children.forEach(visit);
  };
  visit(fromMarkdown(text, { extensions }));
  for (const { 0: found, index, groups } of html.join("").matchAll(markup))
    if (groups?.comment !== undefined) hidden.push([index, index + found.length]);
  for (const [identifier, start, end] of definitions) if (!used.has(identifier)) hidden.push([start, end]);
  return { hidden, code };
}

/**
 * Finds what a page shows of a Markdown text. One that takes too long to read is hidden as a whole: it was written for that.
 *
 * @param limitMs - how long it may take, in milliseconds
 */
export function readShown(text: string, { withoutCode = false, limitMs = textLimitMs } = {}): ShownText {
  const isHidden = new Uint8Array(text.length);
  const isBlank = new Uint8Array(text.length);
  // Nothing else can begin a comment or a definition.
  const isPlain = !withoutCode && !/<[!?/]|\]:/.test(text);
  if (!isPlain && !known.has(text)) {
    if (known.size >= maxKnown) known.clear();
    known.set(
      text,
      within(limitMs, () => findHidden(text)),
    );
  }
  const parts = isPlain ? { hidden: [], code: [] } : known.get(text);
  let hiddenCount = 0;
  const hide = (start: number, end: number): void => {
    hiddenCount += isHidden[start - 1] ? 0 : 1;
    isHidden.fill(1, start, end);
  };
  for (const place of parts?.hidden ?? [[0, text.length]]) hide(...place);
  if (withoutCode) for (const place of parts?.code ?? []) isBlank.fill(1, ...place);
  const searched = text.replace(/[^\n]/g, (character, index: number) =>
    isHidden[index] || isBlank[index] ? " " : character,
  );
  for (const { 0: found, index } of text.matchAll(invisible)) hide(index, index + found.length);
  const from = (start = 0): string =>
    text.slice(start).replace(/[\s\S]/g, (character, index: number) => (isHidden[start + index] ? "" : character));
  return { searched, from, hiddenCount, isUnread: parts === undefined };
}
