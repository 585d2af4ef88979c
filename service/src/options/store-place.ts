import type { Arguments } from "./arguments.ts";

/** Where a Postgres store is. */
export interface PostgresPlace {
  /** `postgres://…`, or a pooler's. */
  url: string;
  /** The URL of the same database without a pooler. Default: `url`. */
  directUrl: string | undefined;
  /** The schema of the tables. Default: `agent_jobs`. */
  schema: string | undefined;
}

/**
 * Returns where the store is that `--store` and `--schema` name; `undefined` if they name none.
 *
 * @throws if they do not go together, or are not valid
 */
export function parseStore({ value }: Arguments<"store" | "schema">): { file: string } | PostgresPlace | undefined {
  const [store, directUrl, ...more] = value("store") ?? [];
  const schema = value("schema");
  if (store === "") throw new Error("--store is empty.");
  if (store === undefined || !isPostgres(store)) {
    if (directUrl !== undefined) throw new Error("--store can be given twice only for Postgres.");
    if (schema !== undefined) throw new Error("--schema requires a --store in Postgres.");
    return store === undefined ? undefined : { file: store };
  }
  if (more.length > 0) throw new Error("--store can be given at most twice.");
  if (directUrl !== undefined && !isPostgres(directUrl))
    throw new Error("The second --store must be a postgres:// URL.");
  return { url: store, directUrl, schema: parseSchema(schema) };
}

/**
 * Checks the name of a schema. It is written in SQL without quotes, and the queue has a schema of its own beside it.
 *
 * @throws if the name is not valid
 */
export function parseSchema(schema: string | undefined): string | undefined {
  if (schema === undefined) return undefined;
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(schema) || schema.startsWith("pg_"))
    throw new Error("--schema must have at most 40 of a-z, 0-9 and _, begin with a letter or _, and not with pg_.");
  if (["public", "information_schema"].includes(schema) || schema.endsWith("_queue"))
    throw new Error("--schema must not be public or information_schema, and not end with _queue.");
  return schema;
}

/** Whether a store is the URL of a Postgres database, and not a file. */
export function isPostgres(store: string): boolean {
  return /^postgres(ql)?:/.test(store);
}
