import { isString, type MutantResult, type MutationRun } from "./mutate.ts";

/** The numbers of one file. Mutants of string literals are counted apart. */
export interface Tally {
  file: string;
  mutants: number;
  killed: number;
  timedOut: number;
  survived: number;
  uncovered: number;
  /** The share of mutants that a test noticed, in percent; 100 without mutants. */
  score: number;
  strings: number;
  stringsNoticed: number;
}

function isNoticed({ verdict }: MutantResult): boolean {
  return verdict === "killed" || verdict === "timed-out";
}

/** Counts mutants. */
export function tally(file: string, results: readonly MutantResult[]): Tally {
  const counted = results.filter((result) => !isString(result));
  const strings = results.filter(isString);
  const count = (verdict: MutantResult["verdict"]) => counted.filter((result) => result.verdict === verdict).length;
  const noticed = counted.filter(isNoticed).length;
  return {
    file,
    mutants: counted.length,
    killed: count("killed"),
    timedOut: count("timed-out"),
    survived: count("survived"),
    uncovered: count("uncovered"),
    score: counted.length === 0 ? 100 : (noticed / counted.length) * 100,
    strings: strings.length,
    stringsNoticed: strings.filter(isNoticed).length,
  };
}

/** Counts the mutants of all files in the first element, and then of each file. */
export function tallies({ paths, mutants }: MutationRun): Tally[] {
  const files = Object.entries(Object.groupBy(mutants, ({ file }) => file));
  return [tally(paths.join(", "), mutants), ...files.map(([file, results = []]) => tally(file, results))];
}

/** Renders a table of the files in Markdown, and then every mutant that no test noticed. */
export function renderReport(run: MutationRun): string {
  const head = ["file", "mutants", "killed", "timed out", "survived", "no coverage", "score", "strings noticed"];
  const rows = tallies(run).map((each, index) => [
    index === 0 ? `**${each.file}**` : each.file,
    String(each.mutants),
    String(each.killed),
    String(each.timedOut),
    String(each.survived),
    String(each.uncovered),
    `${each.score.toFixed(1)} %`,
    `${each.stringsNoticed} of ${each.strings}`,
  ]);
  const unnoticed = run.mutants.filter((result) => !isNoticed(result));
  const list = (title: string, lines: string[]) => (lines.length === 0 ? [] : ["", title, "", ...lines]);
  return [
    ...table([head, ...rows]),
    ...list("Survived", unnoticed.filter((each) => !isString(each) && each.verdict === "survived").map(describe)),
    ...list("No coverage", unnoticed.filter((each) => !isString(each) && each.verdict === "uncovered").map(describe)),
    ...list(
      "String literals, not counted. Those in constants are not tried with freshly loaded modules.",
      unnoticed.filter(isString).map(describe),
    ),
    ...list("Not imported by a test, so not counted: they run only in processes of their own", run.notImported),
    ...list("Tests left out, because they fail without a mutant or when repeated", run.unusable),
    "",
  ].join("\n");
}

/** Renders a Markdown table whose first row is the head. All columns except the first are numbers. */
function table([head = [], ...rows]: readonly string[][]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, column) => (column === 0 ? "---" : "---:"))), ...rows.map(line)];
}

function describe({ file, line, column, mutator, original, replacement }: MutantResult): string {
  return `${file}:${line}:${column}  ${mutator}  ${oneLine(original)} → ${oneLine(replacement)}`;
}

function oneLine(code: string): string {
  const text = code.replace(/\s+/g, " ").trim();
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}
