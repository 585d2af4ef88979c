import { setTimeout } from "node:timers/promises";
import { Client } from "pg";

const everyMs = 100;

/**
 * Counts the connections that the service uses at a time, while something runs: those in a transaction. The others are kept for later, and
 * cost nothing behind a pooler. Returns the most.
 */
export async function countConnections(url: string, work: () => Promise<void>): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  let most = 0;
  let isOver = false;
  const sampled = (async () => {
    while (!isOver) {
      const { rows } = await client.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM pg_stat_activity WHERE application_name = 'agent-job-service' AND state <> 'idle'",
      );
      most = Math.max(most, rows[0]?.count ?? 0);
      await setTimeout(everyMs);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await sampled;
    await client.end();
  }
  return most;
}
