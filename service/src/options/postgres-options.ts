import type { Arguments } from "./arguments.ts";
import type { OptionName } from "./table.ts";

/** Where a Postgres store is. */
export interface PostgresPlace {
  /** `postgres://…`, also of a pooler. */
  url: string;
  /** The URL of the same database without a pooler. Default: `url`. */
  directUrl: string | undefined;
  /** The schema of the tables. Default: `agent_jobs`. */
  schema: string | undefined;
}

/** The options of a Postgres store. */
export const postgresOptions = ["store", "store-direct-url", "schema"] as const satisfies OptionName[];

/**
 * Returns where the Postgres store of `--store` is; `undefined` if that is not the URL of one.
 *
 * @throws if other options of a Postgres store are given then, or are not valid
 */
export function parsePostgres({ value }: Arguments<(typeof postgresOptions)[number]>): PostgresPlace | undefined {
  const [url, directUrl, schema] = [value("store"), value("store-direct-url"), value("schema")];
  if (url === undefined || !isPostgres(url)) {
    if (directUrl !== undefined) throw new Error("--store-direct-url requires a --store in Postgres.");
    if (schema !== undefined) throw new Error("--schema requires a --store in Postgres.");
    return undefined;
  }
  if (directUrl !== undefined && !isPostgres(directUrl))
    throw new Error("--store-direct-url must be a postgres:// URL.");
  return { url, directUrl, schema: parseSchema(schema) };
}

/**
 * Checks the name of a schema, which SQL has without quotes, and beside which the queue has its own.
 *
 * @throws if no schema of a store can have the name
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
