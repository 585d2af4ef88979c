/** What attacks pages: HTML, controls that reorder text, and a very long word. */
export const hostile = `<img src=x onerror="window.attacked=1"><script>window.attacked=1</script> \u202eevil\u2066 ${"W".repeat(3000)}`;

/** What every 100th prompt has. */
export const rareWord = "zirconium";

const people = 60;
const projects = 40;
/** Between two jobs. */
const everyMs = 20 * 60_000;

/**
 * Returns statements, in the SQL of both databases, that store the jobs of a team: of 60 people and 40 projects, with one to three turns,
 * newest last. Every tenth failed, every 20th with unfinished work, every seventh has a pull request, and all but the newest 100 have ended;
 * of those, every tenth waits for an hour.
 *
 * @param schema - before the names of tables, such as `agent_jobs.`
 * @param now - when the newest was created, in milliseconds since 1970
 */
export function manyJobs(count: number, now: number, schema = ""): string[] {
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
  const turns = `${numbers}, t(k) AS (SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3)`;
  const isOpen = `i > ${count} - 100`;
  const created = `(${now} - CAST(${count} - i AS bigint) * ${everyMs})`;
  const text = `Fix the links of the guide, and check each page of the handbook. ${Array.from({ length: 60 }, (_, word) => `word${word}`).join(" ")}`;
  const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`;
  return [
    `INSERT INTO ${schema}job (id, project, "createdAt", state, "idleSince", model, branch, kept, "pullRequest")
      ${numbers} SELECT 'job_' || i, 'project-' || (i % ${projects}), ${created},
      CASE WHEN ${isOpen} THEN 'active' WHEN i % 10 = 0 THEN 'failed' ELSE 'completed' END,
      CASE WHEN ${isOpen} THEN NULL ELSE ${created} + 100000 END, 'claude-code', 'agent/job_' || i,
      CASE WHEN i % 20 = 0 AND NOT (${isOpen}) THEN 'unfinished' END,
      CASE WHEN i % 7 = 0 THEN 'https://git.example.com/docs/pull/' || i END FROM n WHERE i <= ${count}`,
    `INSERT INTO ${schema}turn (id, identity, job, prompt, asker, asked, state, attempts, "startedAt", "endedAt", reason, "costUsd", answer,
      "waitReason", "waitUntil", project, caller, step, request)
      ${turns} SELECT i * 3 + k, 'identity-' || i || '-' || k, 'job_' || i,
      CASE WHEN i % 50 = 0 THEN ${quoted(hostile)} ELSE 'Task ' || i || ' of team ' || (i % ${people}) END
        || CASE WHEN i % 100 = 0 THEN ' ${rareWord} ' ELSE ' ' END || ${quoted(text)},
      'person-' || (i % ${people}),
      '{"by":"person-' || (i % ${people}) || '","in":"https://github.com/acme/docs/issues/' || i || '","run":"https://github.com/acme/docs/actions/runs/' || i || '"}',
      CASE WHEN ${isOpen} THEN 'waiting' WHEN i % 10 = 0 THEN 'failed' ELSE 'completed' END, 1,
      CASE WHEN ${isOpen} THEN NULL ELSE ${created} + 1000 END, CASE WHEN ${isOpen} THEN NULL ELSE ${created} + 100000 END,
      CASE WHEN i % 10 = 0 AND NOT (${isOpen}) THEN 'The remote refused the push. ' || ${quoted(hostile)} END,
      CASE WHEN ${isOpen} THEN NULL WHEN i % 9 = 0 THEN -1 ELSE 0.25 END, ${quoted(hostile)},
      CASE WHEN ${isOpen} AND i % 10 = 9 AND k = 1 THEN 'GitHub limits the rate. ' || ${quoted(hostile)} END,
      CASE WHEN ${isOpen} AND i % 10 = 9 AND k = 1 THEN ${now} + 3600000 END,
      'project-' || (i % ${projects}), 'ci', 'step', 'request-' || i || '-' || k FROM n, t WHERE i <= ${count} AND k <= 1 + i % 3`,
  ];
}
