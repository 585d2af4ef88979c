import { Client } from "pg";

export interface StoredJob {
  id: string;
  project: string;
  state: string;
  pullRequest: string | null;
  head: string | null;
}

export interface StoredTurn {
  id: number;
  identity: string;
  job: string;
  prompt: string;
  state: string;
  attempts: number;
  lease: string | null;
  /** What it counts as for the hourly limit, and when: milliseconds since 1970. */
  acceptedAs: string | null;
  acceptedAt: number | null;
}

export interface StoredPullRequest {
  number: number;
  job: string;
  branch: string;
  head: string;
}

/** What the database has. */
export interface StoredState {
  jobs: StoredJob[];
  /** In their order. */
  turns: StoredTurn[];
  pullRequests: StoredPullRequest[];
  /** Turns that are still in the queue. */
  queued: number;
}

/** Reads the database, without the service. */
export async function readStored(url: string): Promise<StoredState> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const rows = async <T>(sql: string): Promise<T[]> => (await client.query(sql)).rows as T[];
    const turns = `SELECT id::int, identity, job, prompt, state, attempts, lease, "acceptedAs", "acceptedAt"::float8 FROM agent_jobs.turn
      ORDER BY id`;
    const queued =
      "SELECT count(*)::int AS count FROM agent_jobs_queue.job WHERE name = 'turn' AND state < 'completed'";
    return {
      jobs: await rows(`SELECT id, project, state, "pullRequest", head FROM agent_jobs.job`),
      turns: await rows(turns),
      pullRequests: await rows('SELECT number, job, branch, head FROM agent_jobs."pullRequest"'),
      queued: (await rows<{ count: number }>(queued))[0]?.count ?? 0,
    };
  } finally {
    await client.end();
  }
}

/** Returns how many turns have not ended. */
export async function countOpenTurns(url: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const sql = "SELECT count(*)::int AS count FROM agent_jobs.turn WHERE state IN ('waiting', 'running')";
    return ((await client.query(sql)).rows as { count: number }[])[0]?.count ?? 0;
  } finally {
    await client.end();
  }
}
