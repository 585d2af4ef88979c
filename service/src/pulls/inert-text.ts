/** Commands to CI services, such as `[skip ci]`, `[ci skip]`, `[no ci]`, `[skip actions]` and `[CF-Pages-Skip]`. */
const bracketCommand = /\[((?:skip|no)[\s_-]+[\w-]+|[\w-]+?[\s_-]+skip)\]/gi;

/** Those of Azure Pipelines, and GitHub's trailers. */
const starredCommand = /\*{3}(NO_CI)\*{3}/gi;
const trailerCommand = /\b((?:skip|request)-checks)\s*:\s*(true)/gi;

/** Mentions, references to issues, and links, which GitHub also takes for references. */
const references = /@(?=\w)|#(?=\d)|\bGH(?=-\d)|:(?=\/\/)/gi;

/**
 * Makes untrusted text inert for a commit message or the title of a pull request, where GitHub notifies everyone mentioned and
 * closes the issues named after words such as "Fixes", and where CI services look for commands to skip them. People read the
 * same: commands lose their brackets, and an invisible character breaks each reference.
 */
export function inertText(untrusted: string): string {
  return untrusted
    .replace(bracketCommand, "($1)")
    .replace(starredCommand, "$1")
    .replace(trailerCommand, "$1 = $2")
    .replace(references, "$&\u200b");
}
