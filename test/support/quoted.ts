/** Returns words as a shell reads them: paths in a script or command can have spaces, such as that of the checkout. */
export function quoted(...words: string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}
