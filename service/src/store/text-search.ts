/** How many characters of a prompt or message pages show, and can be searched for. */
export const shownLength = 10_000;

/** How a database finds turns by the words of their prompts and reasons. */
export interface TextSearch {
  /** A table expression with one value, and a condition for a row of `job` that uses it. */
  table: string;
  condition: string;
  /** Returns the query for words, each of which matches as a prefix. */
  value(words: readonly string[]): string;
}

export const sqliteSearch: TextSearch = {
  table: "matching AS NOT MATERIALIZED (SELECT rowid AS turn FROM turnText WHERE turnText MATCH ?)",
  // Reads no rows of turns, which have their prompts. The `+` keeps it from looking up each turn that matches in each job.
  condition: "EXISTS (SELECT 1 FROM turn WHERE turn.job = job.id AND +turn.id IN (SELECT turn FROM matching))",
  value: (words) => words.map((word) => `"${word}"*`).join(" "),
};

// The punctuation of ASCII separates words, as in SQLite. Otherwise Postgres takes a path or an address as one word.
const words = `to_tsvector('simple', regexp_replace(substr(prompt, 1, ${shownLength}) || ' ' || coalesce(reason, ''), '[!-/:-@[-\`{-~]+', ' ', 'g'))`;

export const postgresSearch = {
  words,
  // Otherwise Postgres may look for the words in one turn after another: it must not know that a word is in most of them.
  table: `matching AS MATERIALIZED (SELECT job FROM turn WHERE ${words} @@ (SELECT to_tsquery('simple', ?)))`,
  condition: "id IN (SELECT job FROM matching)",
  value: (given: readonly string[]) => given.map((word) => `'${word}':*`).join(" & "),
} satisfies TextSearch & { words: string };

/** Returns the first words of a text, which have only letters, digits and marks. */
export const wordsIn = (text: string): string[] => (text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).slice(0, 10);
