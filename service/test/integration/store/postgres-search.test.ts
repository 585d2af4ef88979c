import { beforeAll, expect, test } from "vitest";
import type { JobQuery } from "../../../src/model.ts";
import { JobLists } from "../../../src/store/job-lists.ts";
import { PostgresDatabase } from "../../../src/store/postgres/database.ts";
import { postgresSearch } from "../../../src/store/text-search.ts";
import { manyJobs, rareWord } from "../../support/many-jobs.ts";
import { postgresOfFile } from "../../support/postgres.ts";

const server = postgresOfFile();
let url = "";
const jobs = 3000;

beforeAll(async () => {
  url = await server().createStoreDatabase();
  for (const sql of manyJobs(jobs, Date.now(), "agent_jobs.")) await server().query(url, sql);
  await server().query(url, "ANALYZE");
}, 180_000);

interface Plan {
  "Relation Name"?: string;
  "Index Name"?: string;
  "Actual Rows": number;
  "Actual Loops": number;
  "Rows Removed by Filter"?: number;
  Plans?: Plan[];
}

/** Returns how many rows Postgres reads of tables and indexes for a plan. */
function rowsOf(plan: Plan): number {
  const isScan = plan["Relation Name"] !== undefined || plan["Index Name"] !== undefined;
  const own = isScan ? (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"] : 0;
  return (plan.Plans ?? []).reduce((sum, inner) => sum + rowsOf(inner), own);
}

/** Lists jobs, and counts the rows that are read for that. */
async function list(query: Partial<JobQuery>) {
  await using database = new PostgresDatabase({ url, log: () => {} });
  let rows = 0;
  const counted = async <T>(sql: string, values: Parameters<typeof database.rows>[1][]): Promise<T[]> => {
    const explained = await database.rows<{ "QUERY PLAN": [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${sql}`,
      ...values,
    );
    rows += rowsOf(explained[0]?.["QUERY PLAN"][0].Plan as Plan);
    return database.rows<T>(sql, ...values);
  };
  const lists = new JobLists(
    Object.assign(Object.create(database), {
      rows: (sql: string, ...values: never[]) => counted(sql, values),
      row: async (sql: string, ...values: never[]) => (await counted(sql, values))[0],
    }),
    postgresSearch,
  );
  const projects = Array.from({ length: 40 }, (_, index) => `project-${index}`);
  const found = await lists.jobs({ projects, limit: 51, ...query });
  return { rows: Math.round(rows), found: found.map(({ id }) => Number(id.replace("job_", ""))) };
}

const newest = (isFound: (job: number) => boolean): number[] =>
  Array.from({ length: jobs }, (_, index) => jobs - index)
    .filter(isFound)
    .slice(0, 51);

// All 6,000 turns have the words of the handbook. Looked up in the index of words, such a search reads 15,000 rows, and more with more jobs.
test.each<[name: string, query: Partial<JobQuery>, isFound: (job: number) => boolean, maxRows: number]>([
  ["words of every turn", { text: "handbook links" }, () => true, 1000],
  ["ten of them", { text: "word0 word1 word2 word3 word4 word5 word6 word7 word8 word9" }, () => true, 1000],
  ["and a person", { text: "handbook", asker: "person-7" }, (job) => job % 60 === 7, 8000],
  ["and a state", { text: "handbook", status: "failed" }, (job) => job % 10 === 0 && job <= jobs - 100, 2000],
  ["and an unknown person", { text: "handbook", asker: "nobody" }, () => false, 1000],
  ["a rare word", { text: rareWord.slice(0, 6) }, (job) => job % 100 === 0, 7000],
  ["an unknown word", { text: "xylophone" }, () => false, 7000],
])("a search for %s reads few rows", async (_name, query, isFound, maxRows) => {
  const { found, rows } = await list(query);
  expect(found).toEqual(newest(isFound));
  expect(rows).toBeLessThan(maxRows);
});
