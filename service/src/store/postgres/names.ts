/** The schema of a store's tables, unless `--schema` names another. */
export const defaultSchema = "agent_jobs";

/** What belongs to one store in its database, which can have several: each has a schema of its own. */
export interface StoreNames {
  /** The schema of the service's tables. */
  readonly tables: string;
  /** The schema of pg-boss. */
  readonly queue: string;
  /** The channels of `NOTIFY`, which all schemas of a database share. */
  readonly channels: Channels;
  /** Returns the name of an advisory lock, which all schemas of a database share, too. */
  lock(name: string): string;
}

export interface Channels {
  /** For turns that may have become ready. */
  turn: string;
  /** For changes of jobs. The payload is the id of the job. */
  job: string;
}

/** @param schema - of the tables. Default: `agent_jobs` */
export function namesOf(schema = defaultSchema): StoreNames {
  return {
    tables: schema,
    queue: `${schema}_queue`,
    channels: { turn: `${schema}_turn`, job: `${schema}_change` },
    lock: (name) => `${schema} ${name}`,
  };
}

const relations = [
  ...[
    "job",
    "turn",
    "turnText",
    "project",
    "lastStart",
    "supervision",
    "pullRequest",
    "logChunk",
    "home",
    "keptCommit",
    "token",
    "deletedJob",
  ],
  ...["repository", "projectRepository", "recentCommit", "version", "turnId"],
];
const relation = new RegExp(`\\b(FROM|JOIN|INTO|UPDATE) ("?)(${relations.join("|")})\\2(?![\\w".])`, "g");

/**
 * Puts the schema before each table of a statement in the SQL that SQLite and Postgres share. The statement then means the same
 * on every connection: poolers and roles can have another `search_path`.
 */
export function qualified(sql: string, { tables }: StoreNames): string {
  return sql.replace(relation, (_, word, quote, name) => `${word} ${tables}.${quote}${name}${quote}`);
}
