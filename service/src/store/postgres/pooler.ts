import type { ClientBase } from "pg";

/** Returns whether a connection is not to a server itself: a pooler tells its clients another process than the server's. */
export async function isPooled(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  return rows[0]?.pid !== (client as ClientBase & { processID: number | null }).processID;
}
