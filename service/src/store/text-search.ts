/** How many characters of a prompt or message pages show, and can be searched for. */
export const shownLength = 10_000;

/** How a database finds turns by the words of their prompts and reasons. */
export interface TextSearch {
  /** A table expression with one value, and a condition for a row of `job` that uses it. */
  table: string;
  condition: string;
  /** The same for few jobs, if it is faster to look at the newest ones first. */
  recently?: string;
  /** Returns the query for words, each of which matches as a prefix. */
  value(words: readonly string[]): string;
}

export const sqliteSearch: TextSearch = {
  table: "matching AS NOT MATERIALIZED (SELECT rowid AS turn FROM turnText WHERE turnText MATCH ?)",
  // Reads no rows of turns, which have their prompts. The `+` keeps it from looking up each turn that matches in each job.
  condition: "EXISTS (SELECT 1 FROM turn WHERE turn.job = job.id AND +turn.id IN (SELECT turn FROM matching))",
  value: (words) => words.map((word) => `"${word}"*`).join(" "),
};

export const postgresSearch = {
  /** Returns what finds the words of a turn. The punctuation of ASCII separates words, as in SQLite: Postgres takes a path for one. */
  words: (prompt: string, reason: string) =>
    `to_tsvector('simple', regexp_replace(substr(${prompt}, 1, ${shownLength}) || ' ' || coalesce(${reason}, ''), '[!-/:-@[-\`{-~]+', ' ', 'g'))`,
  table: `query AS MATERIALIZED (SELECT to_tsquery('simple', ?) AS words),
    matching AS MATERIALIZED (SELECT job FROM "turnText" WHERE words @@ (SELECT words FROM query))`,
  condition: "id IN (SELECT job FROM matching)",
  // For words that most turns have, the index of words is slow. A `LIMIT` keeps Postgres from looking at all turns at once.
  recently: `(SELECT 1 FROM "turnText" WHERE "turnText".job = job.id AND words @@ (SELECT words FROM query) LIMIT 1) IS NOT NULL`,
  value: (given: readonly string[]) => given.map((word) => `'${word}':*`).join(" & "),
} satisfies TextSearch & { words: unknown };

/** Returns the first words of a text, which have only letters, digits and marks. */
export const wordsIn = (text: string): string[] => (text.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).slice(0, 10);
