/** What the built-in editor can do. */
export type Instruction =
  | { kind: "add-page"; title: string; folder: string | undefined; text: string | undefined }
  | { kind: "add-section"; title: string; page: string; text: string | undefined }
  | { kind: "replace"; phrase: string; by: string }
  | { kind: "fix-link"; link: string; by: string };

const quotationMarks = ['""', "''", "“”", "``"] as const;

/**
 * A text in any of the usual quotation marks. Like the blanks between words it has a greatest length, since a pattern that
 * looks on without end takes forever on a text that is made for it.
 */
function quoted(name: string): string {
  const forms = quotationMarks.map(([open, close], mark) => `${open}(?<${name}${mark}>[^${close}\\n]{1,2000})${close}`);
  return `(?:${forms.join("|")})`;
}

const says = `(?:,?\\s+(?:that says|which says|saying|with the text|with)\\s*:?\\s+${quoted("text")})?`;

const forms: readonly { pattern: RegExp; read: (value: (name: string) => string | undefined) => Instruction }[] = [
  {
    pattern: form(
      `add (?:a|another|the)? ?(?:new )?page (?:called |titled |named )?${quoted("title")}(?:\\s+(?:in|under|to)\\s+(?:the folder )?${quoted("folder")})?${says}`,
    ),
    read: (value) => ({
      kind: "add-page",
      title: value("title") ?? "",
      folder: value("folder"),
      text: value("text"),
    }),
  },
  {
    pattern: form(
      `add (?:a|another|the)? ?(?:new )?section (?:called |titled |named )?${quoted("title")}\\s+(?:to|in|on)\\s+(?:the page )?${quoted("page")}${says}`,
    ),
    read: (value) => ({
      kind: "add-section",
      title: value("title") ?? "",
      page: value("page") ?? "",
      text: value("text"),
    }),
  },
  {
    pattern: form(`(?:replace|change) ${quoted("phrase")} (?:with|by|to|into) ${quoted("by")}`),
    read: (value) => ({ kind: "replace", phrase: value("phrase") ?? "", by: value("by") ?? "" }),
  },
  {
    pattern: form(
      `(?:fix|mend|correct|point) (?:the |all |every )?links? (?:to )?${quoted("link")} (?:to|so that it points to|with) ${quoted("by")}`,
    ),
    read: (value) => ({ kind: "fix-link", link: value("link") ?? "", by: value("by") ?? "" }),
  },
];

function form(source: string): RegExp {
  const pattern = source.replaceAll(" ?", "\\s*").replaceAll(" ", "\\s+");
  return new RegExp(`\\b${pattern.replaceAll("\\s+", "\\s{1,20}").replaceAll("\\s*", "\\s{0,20}")}`, "giu");
}

/** What stands before an instruction that is not to be followed. */
const negation = /\b(?:not|never|without|don['’]t)\s{1,20}$/iu;

/** The instructions in a prompt that the editor understands, in their order; whatever else it says is left alone. */
export function readInstructions(prompt: string): Instruction[] {
  return forms
    .flatMap(({ pattern, read }) =>
      [...prompt.matchAll(pattern)]
        .filter(({ index }) => !negation.test(prompt.slice(Math.max(0, index - 30), index)))
        .map((match) => ({
          at: match.index,
          instruction: read((name) =>
            quotationMarks.map((_, mark) => match.groups?.[`${name}${mark}`]).find((text) => text !== undefined),
          ),
        })),
    )
    .sort((one, other) => one.at - other.at)
    .map(({ instruction }) => instruction);
}
