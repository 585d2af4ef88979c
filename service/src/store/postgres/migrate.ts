import { setTimeout } from "node:timers/promises";
import { Client, DatabaseError, escapeLiteral } from "pg";
import { PgBoss } from "pg-boss";
import type { Log } from "../../log/log.ts";
import { connectionString } from "./connection-string.ts";
import { defaultSchema, type StoreNames } from "./names.ts";
import { isPooled } from "./pooler.ts";
import { type Filling, type Index, type Migration, migrations } from "./schema.ts";

export interface SchemaOptions {
  /** `postgres://…`, as `psql` takes it, of the database itself and not of a pooler, if there is such a URL. */
  url: string;
  names: StoreNames;
  log: Log;
}

/** The versions of a schema: before and after it was opened. */
export interface OpenedSchema {
  before: number;
  after: number;
}

/** What a database has of a store. */
interface SchemaState {
  /** 0 if it has no tables. */
  schema: number;
  /** The first schema whose services can work with it. */
  oldest: number;
  /** The version of pg-boss's schema; 0 if it has none. */
  queue: number;
  existingSchemas: readonly string[];
  /** Those that are valid. */
  indexes: readonly string[];
  /** Whether the schema `public` has tables of a store. */
  isInPublic: boolean;
}

const partRows = 10_000;
/** The largest `bigint`. */
const lastId = "9223372036854775807";
const lockPauseMs = 500;
const indexPauseMs = 1000;
/** In seconds. pg-boss builds one index at a time, and then waits for this long. */
const shortestInterval = 10;
/** While a change waits for a table, nobody else gets it. Longer than Postgres needs to end an autovacuum that is in the way. */
const longestWaitForTableMs = 3000;
/** Between the attempts, others use the table: for longer and longer, because a backup keeps it for as long as it takes. */
const firstPauseMs = 1000;
const longestPauseMs = 30_000;
const changeAttempts = 20;

/**
 * Brings the database to the schema of this version, or creates that, unless it is. Processes that start at the same time wait
 * for each other.
 *
 * @param all - the migrations to the schema of this version
 * @throws if services of this version cannot work with the schema, or its user may not change it. Nothing is changed then
 */
export async function openSchema(options: SchemaOptions, all = migrations): Promise<OpenedSchema> {
  const { url, names, log } = options;
  await using connection = await connect(url);
  const { client } = connection;
  const state = await readState(client, names, all);
  check(state, names, all, log);
  if (isCurrent(state, all)) return { before: state.schema, after: state.schema };
  try {
    await migrate(client, options, all);
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw new Error(
      `${describe(state, names, all)}, and the user of --store may not change that (${error.message}). Run this with a user who ` +
        `may: ${migrateCommand(url, names)}`,
      { cause: error },
    );
  }
  return { before: state.schema, after: Math.max(state.schema, all.length) };
}

/** Says why a schema cannot be used as it is. */
function describe({ schema }: SchemaState, { tables }: StoreNames, all: readonly Migration[]): string {
  if (schema === 0) return `it has no schema ${tables}`;
  if (schema >= all.length) return `its schema ${tables}, or that of its queue, was not migrated completely`;
  return `its schema ${tables} has version ${schema}, but this version of the service needs ${all.length}`;
}

function check(
  { schema, oldest, isInPublic }: SchemaState,
  { tables }: StoreNames,
  all: readonly Migration[],
  log: Log,
) {
  if (oldest > all.length)
    throw new Error(
      `its schema is ${schema}, which services from schema ${oldest} on can work with; this version has schema ` +
        `${all.length}. Start the newer version.`,
    );
  if (!isInPublic) return;
  const found =
    "an earlier version made the tables of a store in the schema public, because a pooler had removed its search_path";
  const advice = 'See "PgBouncer" in service/docs/operating.md.';
  if (schema === 0 && tables === defaultSchema)
    throw new Error(`${found}. Its jobs would not be found in ${tables}. ${advice}`);
  log(`In this database, ${found}. Its jobs are not those of ${tables}. ${advice}`, "warn");
}

/** Returns the command that brings a store to the schema of this version, without the user and the password of its URL. */
function migrateCommand(url: string, { tables }: StoreNames): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  const schema = tables === defaultSchema ? "" : ` --schema ${tables}`;
  return `npm run service -- migrate --store "${shown.href}"${schema}`;
}

interface Relation {
  schema: string;
  name: string;
  /** Whether it is an index that was not built completely. */
  isInvalid: boolean;
  /** Whether the user lacks a right that the service needs. */
  isDenied: boolean;
}

const rights = ["SELECT", "INSERT", "UPDATE", "DELETE"];

const relations = `SELECT nspname AS schema, relname AS name, NOT coalesce(indisvalid, true) AS "isInvalid",
    NOT has_schema_privilege(pg_namespace.oid, 'USAGE') OR CASE
      WHEN relkind IN ('r', 'p') THEN NOT (${rights.map((right) => `has_table_privilege(pg_class.oid, '${right}')`).join(" AND ")})
      WHEN relkind = 'S' THEN NOT has_sequence_privilege(pg_class.oid, 'USAGE')
      ELSE false
    END AS "isDenied"
  FROM pg_catalog.pg_namespace JOIN pg_catalog.pg_class ON relnamespace = pg_namespace.oid
  LEFT JOIN pg_catalog.pg_index ON indexrelid = pg_class.oid WHERE nspname = ANY ($1)`;

async function readState(client: Client, names: StoreNames, all: readonly Migration[]): Promise<SchemaState> {
  const { tables, queue } = names;
  const { rows } = await client.query<Relation>(relations, [[tables, queue, "public"]]);
  const denied = rows.find(({ schema, isDenied }) => isDenied && schema !== "public");
  if (denied)
    throw new Error(
      `the user of --store lacks rights on ${denied.schema}.${denied.name}. Grant what "Tables and rights" in ` +
        "service/docs/operating.md lists.",
    );
  const has = (schema: string, name: string) => rows.some((row) => row.schema === schema && row.name === name);
  const schemas = await client.query<{ name: string }>(
    "SELECT nspname AS name FROM pg_catalog.pg_namespace WHERE nspname = ANY ($1)",
    [[tables, queue]],
  );
  const version = has(tables, "version")
    ? (await client.query<{ schema: number; oldest: number }>(`SELECT schema, oldest FROM ${tables}.version`)).rows[0]
    : undefined;
  const queueVersion = has(queue, "version")
    ? (await client.query<{ version: number }>(`SELECT version FROM ${queue}.version`)).rows[0]
    : undefined;
  const wanted = indexesOf(all).map(({ name }) => name);
  return {
    schema: version?.schema ?? 0,
    oldest: version?.oldest ?? 0,
    queue: queueVersion?.version ?? 0,
    existingSchemas: schemas.rows.map(({ name }) => name),
    indexes: wanted.filter((name) => rows.some((row) => row.schema === tables && row.name === name && !row.isInvalid)),
    isInPublic: has("public", "recentCommit") && has("public", "lastStart"),
  };
}

const indexesOf = (all: readonly Migration[]): Index[] => all.flatMap(({ indexes = [] }) => indexes);

function isCurrent({ schema, queue, indexes }: SchemaState, all: readonly Migration[]): boolean {
  const isComplete = indexes.length === indexesOf(all).length;
  return schema >= all.length && queue >= (all.at(-1)?.queueSchema ?? 0) && isComplete;
}

async function migrate(client: Client, { url, names, log }: SchemaOptions, all: readonly Migration[]): Promise<void> {
  await using connection = await connect(url);
  await waitForOthers(connection.client, names);
  const state = await readState(client, names, all);
  if (isCurrent(state, all)) return;
  check(state, names, all, () => {});
  if (state.schema > 0) log(`Migrating the schema ${names.tables} from version ${state.schema} to ${all.length}.`);
  // A pooler would give this setting to other clients.
  if (!(await isPooled(client))) await client.query("SET statement_timeout = 0");
  if (state.schema > 0)
    for (const { filling } of all.slice(state.schema)) if (filling) await fill(client, names, filling);
  await changeTables(client, names, state, all);
  for (const index of indexesOf(all)) if (!state.indexes.includes(index.name)) await build(client, names, index);
  await migrateQueue(client, names, state);
}

/**
 * Waits until no other process migrates the schema, and keeps others from it until the connection ends. It asks again and again:
 * building an index waits for all transactions that wait for something.
 */
async function waitForOthers(client: Client, { lock }: StoreNames): Promise<void> {
  const begin = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0";
  // Without values: a statement with values would keep its snapshot, which building an index waits for as well.
  const take = `SELECT pg_try_advisory_xact_lock(hashtextextended(${escapeLiteral(lock("agent_jobs migration"))}, 0)) AS held`;
  for (;;) {
    await client.query(begin);
    const { rows } = await client.query<{ held: boolean }>(take);
    if (rows[0]?.held) return;
    await client.query("ROLLBACK");
    await setTimeout(lockPauseMs);
  }
}

/** Adds columns to a table, fills them in parts, of which others wait for one at most, and checks that all are filled. */
async function fill(client: Client, names: StoreNames, { columns, table, rows, part, check }: Filling): Promise<void> {
  await change(client, names, () => client.query(columns));
  const partOfRows = `${rows} ${part}`;
  const lastPart = await fillParts(client, names, { table, part: partOfRows });
  const { name, condition } = check;
  await change(client, names, async () => {
    await client.query(
      `ALTER TABLE ${table} DROP CONSTRAINT IF EXISTS "${name}", ADD CONSTRAINT "${name}" CHECK (${condition}) NOT VALID`,
    );
    // What was added meanwhile: from now on, a row that is not filled cannot be changed.
    await client.query(partOfRows, [lastPart, lastId]);
  });
  // What was added with an earlier id.
  await change(client, names, () => client.query(rows));
  await change(client, names, () => client.query(`ALTER TABLE ${table} VALIDATE CONSTRAINT "${name}"`));
}

/** Returns the first id of the last part. */
async function fillParts(
  client: Client,
  names: StoreNames,
  { table, part }: Pick<Filling, "table" | "part">,
): Promise<string> {
  const last = `SELECT (max(id) + 1)::text AS "end"
    FROM (SELECT id FROM ${names.tables}.${table} WHERE id >= $1 ORDER BY id LIMIT ${partRows}) AS part`;
  let lastPart = "0";
  for (let from = "0"; ; ) {
    const end = (await client.query<{ end: string | null }>(last, [from])).rows[0]?.end;
    if (end == null) return lastPart;
    await change(client, names, () => client.query(part, [from, end]));
    lastPart = from;
    from = end;
  }
}

/** Runs a transaction on the tables of a store. It is tried again if others use a table for too long. */
async function change(client: Client, names: StoreNames, work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await changeOnce(client, names, work);
    } catch (error) {
      if (attempt === changeAttempts || !isBusy(error)) throw error;
    }
    await setTimeout(Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1)));
  }
}

async function changeOnce(client: Client, { tables }: StoreNames, work: () => Promise<unknown>): Promise<void> {
  try {
    await client.query(
      `BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${longestWaitForTableMs}; SET LOCAL search_path = ${tables}`,
    );
    await work();
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

async function changeTables(
  client: Client,
  names: StoreNames,
  { schema, existingSchemas }: SchemaState,
  all: readonly Migration[],
): Promise<void> {
  const { tables, lock } = names;
  const newest = all.at(-1);
  if (newest === undefined || schema >= all.length) return;
  await change(client, names, async () => {
    // Services of earlier versions wait for this lock when they start.
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [lock("agent_jobs schema")]);
    // Asked first, because Postgres wants the right to create schemas even if this one exists.
    if (!existingSchemas.includes(tables)) await client.query(`CREATE SCHEMA ${tables}`);
    // In the order in which creates use them, so that none has to fail in a deadlock.
    if (schema > 0) await client.query("LOCK TABLE job, turn IN ACCESS EXCLUSIVE MODE");
    if (schema === 0)
      await client.query("CREATE TABLE IF NOT EXISTS version (schema integer NOT NULL, oldest integer NOT NULL)");
    for (const { sql } of all.slice(schema)) await client.query(sql(tables));
    await client.query("DELETE FROM version");
    await client.query("INSERT INTO version (schema, oldest) VALUES ($1, $2)", [all.length, newest.oldest]);
  });
}

/** Builds an index while others change its table. A build that was interrupted has left an index that is not valid. */
async function build(client: Client, { tables }: StoreNames, { name, isUnique, table, on }: Index): Promise<void> {
  await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${tables}."${name}"`);
  const kind = isUnique ? "UNIQUE INDEX" : "INDEX";
  await client.query(`CREATE ${kind} CONCURRENTLY "${name}" ON ${tables}."${table}" ${on}`);
}

/** Brings pg-boss's schema to its version, and waits until it has built its indexes, for which other processes may lack the right. */
async function migrateQueue(client: Client, { queue }: StoreNames, { existingSchemas }: SchemaState): Promise<void> {
  const boss = new PgBoss({
    db: { executeSql: (sql, values) => client.query(sql, values) },
    schema: queue,
    createSchema: !existingSchemas.includes(queue),
    schedule: false,
    supervise: false,
    bamIntervalSeconds: shortestInterval,
  });
  let failure: Error | undefined;
  boss.on("error", (error) => {
    failure = error;
  });
  await boss.start();
  try {
    const open = `SELECT 1 FROM ${queue}.bam WHERE status <> 'completed' LIMIT 1`;
    while ((await client.query(open)).rows.length > 0) {
      if (failure !== undefined) throw failure;
      await setTimeout(indexPauseMs);
    }
  } finally {
    await boss.stop({ close: false, graceful: false });
  }
}

interface Connection extends AsyncDisposable {
  client: Client;
}

/** Connects. A migration of a large table takes longer than any other statement may. */
async function connect(url: string): Promise<Connection> {
  const client = new Client({
    connectionString: connectionString(url),
    application_name: "agent-job-service schema",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // If the connection is lost, the statement fails; without a listener, the process would end.
  client.on("error", () => {});
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}

/** SQLSTATE 55P03: lock_not_available; 40P01: deadlock_detected. */
const isBusy = (error: unknown): boolean =>
  error instanceof DatabaseError && ["55P03", "40P01"].includes(error.code ?? "");

/** SQLSTATE 42501: insufficient_privilege. */
function isDenied(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === "42501";
}
