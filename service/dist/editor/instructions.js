const quotationMarks = ['""', "''", "“”", "``"];
function quoted(name) {
    const alternatives = quotationMarks.map(([open, close], mark) => `${open}(?<${name}${mark}>[^${close}\\n]{1,2000})${close}`);
    return `(?:${alternatives.join("|")})`;
}
const optionalText = `(?:,?\\s+(?:that says|which says|saying|with the text|with)\\s*:?\\s+${quoted("text")})?`;
const grammar = [
    {
        pattern: phrasePattern(`add (?:a|another|the)? ?(?:new )?page (?:called |titled |named )?${quoted("title")}(?:\\s+(?:in|under|to)\\s+(?:the folder )?${quoted("folder")})?${optionalText}`),
        create: (value) => ({
            kind: "add-page",
            title: value("title") ?? "",
            folder: value("folder"),
            text: value("text"),
        }),
    },
    {
        pattern: phrasePattern(`add (?:a|another|the)? ?(?:new )?section (?:called |titled |named )?${quoted("title")}\\s+(?:to|in|on)\\s+(?:the page )?${quoted("page")}${optionalText}`),
        create: (value) => ({
            kind: "add-section",
            title: value("title") ?? "",
            page: value("page") ?? "",
            text: value("text"),
        }),
    },
    {
        pattern: phrasePattern(`(?:replace|change) ${quoted("phrase")} (?:with|by|to|into) ${quoted("replacement")}`),
        create: (value) => ({ kind: "replace", phrase: value("phrase") ?? "", replacement: value("replacement") ?? "" }),
    },
    {
        pattern: phrasePattern(`(?:fix|mend|correct|point) (?:the |all |every )?links? (?:to )?${quoted("link")} (?:to|so that it points to|with) ${quoted("replacement")}`),
        create: (value) => ({ kind: "fix-link", link: value("link") ?? "", replacement: value("replacement") ?? "" }),
    },
];
function phrasePattern(source) {
    const pattern = source.replaceAll(" ?", "\\s*").replaceAll(" ", "\\s+");
    return new RegExp(`\\b${pattern.replaceAll("\\s+", "\\s{1,20}").replaceAll("\\s*", "\\s{0,20}")}`, "giu");
}
const negation = /\b(?:not|never|without|don['’]t)\s{1,20}$/iu;
export function parseInstructions(prompt) {
    return grammar
        .flatMap(({ pattern, create }) => [...prompt.matchAll(pattern)]
        .filter(({ index }) => !negation.test(prompt.slice(Math.max(0, index - 30), index)))
        .map((match) => ({
        at: match.index,
        instruction: create((name) => quotationMarks.map((_, mark) => match.groups?.[`${name}${mark}`]).find((text) => text !== undefined)),
    })))
        .sort((one, other) => one.at - other.at)
        .map(({ instruction }) => instruction);
}
