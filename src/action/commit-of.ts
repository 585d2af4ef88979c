/** Returns the full id of a commit; `undefined` for anything else, such as a branch. */
export function commitOf(ref: string | undefined): string | undefined {
  return /^[0-9a-f]{40,64}$/.test(ref ?? "") ? ref : undefined;
}
