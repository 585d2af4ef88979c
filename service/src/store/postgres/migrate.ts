import { Client, DatabaseError } from "pg";
import { PgBoss } from "pg-boss";
import { connectionString } from "./connection-string.ts";
import { defaultSchema, type StoreNames } from "./names.ts";
import { schemaVersion, tables } from "./schema.ts";
import { queueName } from "./turn-queue.ts";

export interface SchemaOptions {
  /** `postgres://…`, as `psql` takes it, of the database itself and not of a pooler, if there is such a URL. */
  url: string;
  names: StoreNames;
}

/**
 * Creates the tables of a store and of its queue, unless they are there. Processes that start at the same time wait for each other.
 *
 * @returns whether it has created them
 * @throws if there are tables of another version, or the user lacks a right. Nothing is changed then
 */
export async function openSchema({ url, names }: SchemaOptions): Promise<boolean> {
  const client = new Client({
    connectionString: connectionString(url),
    application_name: "agent-job-service schema",
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // If the connection is lost, the statement fails; without a listener, the process would end.
  client.on("error", () => {});
  await client.connect();
  try {
    if (await hasTables(client, names)) return false;
    await createQueue(client, names);
    return await createTables(client, names);
  } catch (error) {
    if (!isDenied(error)) throw error;
    throw new Error(
      `it has no schema ${names.tables}, or no tables in it, and the user of --store may not change that (${error.message}). Run ` +
        `this with a user who may: ${migrateCommand(url, names)}`,
      { cause: error },
    );
  } finally {
    await client.end();
  }
}

/** Returns the command that creates the tables, without the user and the password of its URL. */
function migrateCommand(url: string, names: StoreNames): string {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  const schema = names.tables === defaultSchema ? "" : ` --schema ${names.tables}`;
  return `npm run service -- migrate --store "${shown.href}"${schema}`;
}

const rights = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/** Each table and sequence, and whether the user lacks a right that the service needs. */
const relations = `SELECT nspname AS schema, relname AS name,
    NOT has_schema_privilege(pg_namespace.oid, 'USAGE') OR CASE
      WHEN relkind IN ('r', 'p') THEN NOT (${rights.map((right) => `has_table_privilege(pg_class.oid, '${right}')`).join(" AND ")})
      WHEN relkind = 'S' THEN NOT has_sequence_privilege(pg_class.oid, 'USAGE')
      ELSE false
    END AS "isDenied"
  FROM pg_catalog.pg_namespace JOIN pg_catalog.pg_class ON relnamespace = pg_namespace.oid WHERE nspname = ANY ($1)`;

/** @throws if there are tables of another version, or the user lacks a right on one */
async function hasTables(client: Client, names: StoreNames): Promise<boolean> {
  type Relation = { schema: string; name: string; isDenied: boolean };
  const { rows } = await client.query<Relation>(relations, [[names.tables, names.queue]]);
  const denied = rows.find(({ isDenied }) => isDenied);
  if (denied)
    throw new Error(
      `the user of --store lacks rights on ${denied.schema}.${denied.name}. Grant what "Tables and rights" in ` +
        "service/docs/scale.md lists.",
    );
  if (!rows.some(({ schema, name }) => schema === names.tables && name === "version")) return false;
  const found = await client.query<{ schema: number }>(`SELECT schema FROM ${names.tables}.version`);
  const version = found.rows[0]?.schema ?? 0;
  if (version > schemaVersion)
    throw new Error(
      `its schema ${names.tables} has version ${version}, and this version of the service knows ${schemaVersion}. Start the newer version.`,
    );
  if (version < schemaVersion)
    throw new Error(
      `its schema ${names.tables} has version ${version} of a version before the first release, which this one cannot use: choose ` +
        "another --schema, or an empty database.",
    );
  return true;
}

/** Creates the tables of the queue. pg-boss lets other processes wait. */
async function createQueue(client: Client, { queue }: StoreNames): Promise<void> {
  const executeSql = (sql: string, values?: unknown[]) =>
    client.query(sql, values).catch(async (error: Error) => {
      // If another process was faster, pg-boss continues, with a transaction that failed.
      await client.query("ROLLBACK");
      throw error;
    });
  const boss = new PgBoss({
    db: { executeSql },
    schema: queue,
    createSchema: !(await hasSchema(client, queue)),
    schedule: false,
    supervise: false,
  });
  boss.on("error", () => {});
  try {
    await boss.start();
    await boss.createQueue(queueName);
  } finally {
    await boss.stop({ close: false, graceful: false });
  }
}

/** Returns `false` if another process has created them meanwhile. */
async function createTables(client: Client, names: StoreNames): Promise<boolean> {
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [names.lock("agent_jobs schema")]);
    const isMissing = !(await hasTables(client, names));
    if (isMissing) {
      if (!(await hasSchema(client, names.tables))) await client.query(`CREATE SCHEMA ${names.tables}`);
      await client.query(`SET LOCAL search_path = ${names.tables}; ${tables}`);
      await client.query(`INSERT INTO ${names.tables}.version VALUES ($1)`, [schemaVersion]);
    }
    await client.query("COMMIT");
    return isMissing;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

/** Asked before a schema is created, because Postgres wants the right to do so even if it exists. */
async function hasSchema(client: Client, name: string): Promise<boolean> {
  return (await client.query("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", [name])).rowCount === 1;
}

/** SQLSTATE 42501: insufficient_privilege. */
function isDenied(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && error.code === "42501";
}
