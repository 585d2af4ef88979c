/** Commands to CI services, such as `[skip ci]`, `[ci skip]`, `[no ci]`, `[skip actions]` and `[CF-Pages-Skip]`. */
const bracketCommand = /\[((?:skip|no)[\s_-]+[\w-]+|[\w-]+?[\s_-]+skip)\]/gi;

/** Those of Azure Pipelines, and GitHub's trailers. */
const starredCommand = /\*{3}(NO_CI)\*{3}/gi;
const trailerCommand = /\b((?:skip|request)-checks)\s*:\s*(true)/gi;

/** Trailers, by which people sign off or are named, releases are made, and a turn's commit is known. */
const trailer = /^([ \t]*(?:[\w-]+-by|Agent-\w+|Change-Id|Release-As|BREAKING[ -]CHANGE))(?=[ \t]*:)/gim;

/** Mentions (`acme@2.4` is none), references to issues, links, which GitHub also takes for references, and comments, by which a body is read. */
const references = /(?<!\w(?=@\d))@(?=\w)|#(?=\d)|\bGH(?=-\d)|:(?=\/\/)|www(?=\.)|<(?=!--)/gi;

/** Lines of a patch, which Git looks for in text that is around one. */
const patchLine = /^(?:diff|@@)(?= -)/gm;

/** Breaks what would have an effect. */
const mark = "\u200b";

/** Returns the text as it was before {@link inertText}, but for the brackets of commands. */
export const withoutMarks = (text: string): string => text.replaceAll(mark, "");

/**
 * Makes untrusted text inert for a commit message, or the title or body of a pull request, of which a squash makes one. GitHub notifies
 * everyone mentioned there and closes the issues named after words such as "Fixes", CI services look for commands to skip them, and programs
 * read trailers. People read the same: commands lose their brackets, and an invisible character breaks each reference and trailer.
 */
export function inertText(untrusted: string): string {
  return untrusted
    .replace(bracketCommand, "($1)")
    .replace(starredCommand, "$1")
    .replace(trailerCommand, "$1 = $2")
    .replace(trailer, `$1${mark}`)
    .replace(references, `$&${mark}`)
    .replace(patchLine, `$&${mark}`);
}
