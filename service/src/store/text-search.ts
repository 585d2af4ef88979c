/** How many characters of a prompt or message pages show, and can be searched for. */
export const shownLength = 10_000;

/** How a database finds turns by the words of their prompts and reasons. */
export interface TextSearch {
  /** A condition for a row of `turn`, with one value. */
  condition: string;
  /** Returns that value: each word may go on. */
  value(words: readonly string[]): string;
}

export const sqliteSearch: TextSearch = {
  condition: "id IN (SELECT rowid FROM turnText WHERE turnText MATCH ?)",
  value: (words) => words.map((word) => `"${word}"*`).join(" "),
};

// The punctuation of ASCII separates words, as in SQLite. Otherwise Postgres takes a path or an address as one word.
const words = `to_tsvector('simple', regexp_replace(substr(prompt, 1, ${shownLength}) || ' ' || coalesce(reason, ''), '[!-/:-@[-\`{-~]+', ' ', 'g'))`;

export const postgresSearch = {
  words,
  condition: `${words} @@ to_tsquery('simple', ?)`,
  value: (given: readonly string[]) => given.map((word) => `'${word}':*`).join(" & "),
} satisfies TextSearch & { words: string };

/** Returns the first words of a text, which have only letters, digits and marks. */
export const wordsIn = (text: string): string[] => (text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).slice(0, 10);
