/** Returns the full id of a commit; `undefined` for anything else, such as a branch. */
export function commitOf(ref: string | undefined): string | undefined {
  return /^[0-9a-f]{40,64}$/.test(ref ?? "") ? ref : undefined;
}

/** What is remembered as the base of a range that has the first commit, which no commit is before: Git's name of an empty tree. */
export const wholeHistory = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
