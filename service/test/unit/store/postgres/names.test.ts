import { expect, test } from "vitest";
import { namesOf, qualified } from "../../../../src/store/postgres/names.ts";

test.each([
  ["SELECT * FROM job WHERE id = ?", "SELECT * FROM s.job WHERE id = ?"],
  [
    "SELECT turn.id FROM turn JOIN job ON job.id = turn.job",
    "SELECT turn.id FROM s.turn JOIN s.job ON job.id = turn.job",
  ],
  ['INSERT INTO "pullRequest" (job) VALUES (?)', 'INSERT INTO s."pullRequest" (job) VALUES (?)'],
  ["UPDATE turn SET at = ? WHERE at > ?", "UPDATE s.turn SET at = ? WHERE at > ?"],
  [
    "INSERT INTO home (job, turn) SELECT job, id FROM turn ON CONFLICT (job) DO UPDATE SET turn = excluded.turn",
    "INSERT INTO s.home (job, turn) SELECT job, id FROM s.turn ON CONFLICT (job) DO UPDATE SET turn = excluded.turn",
  ],
  [
    "SELECT id FROM s_queue.job WHERE NOT EXISTS (SELECT 1 FROM turn)",
    "SELECT id FROM s_queue.job WHERE NOT EXISTS (SELECT 1 FROM s.turn)",
  ],
  ["SELECT extract(epoch FROM now()) FROM jobs, found", "SELECT extract(epoch FROM now()) FROM jobs, found"],
])("%s", (sql, expected) => {
  expect(qualified(sql, namesOf("s"))).toBe(expected);
});

test("each schema has names of its own for what all schemas of a database share", () => {
  const { tables, queue, channels, lock } = namesOf("s");
  expect([tables, queue, ...Object.values(channels), lock("turns")]).toEqual([
    ...["s", "s_queue", "s_turn", "s_change", "s turns"],
  ]);
  expect(namesOf().tables).toBe("agent_jobs");
});
