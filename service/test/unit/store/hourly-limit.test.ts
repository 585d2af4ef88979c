import { expect, test } from "vitest";
import { addJob, memoryStore } from "../../support/memory-store.ts";

test("accepts 100 creates and 100 messages of a project in any hour, to the millisecond", async () => {
  const store = memoryStore();
  let ids = 0;
  const createAt = async (createdAt: number, project = "docs") => {
    const limited = await store.jobs.add({ id: `job_${++ids}`, project, createdAt }, "One");
    return limited && "retryAfterMs" in limited ? limited.retryAfterMs : limited;
  };
  expect(await createAt(1000)).toBeUndefined();
  for (let use = 1; use < 100; use++) expect(await createAt(2000)).toBeUndefined();
  expect(await createAt(61_000)).toBe(3_540_000);
  expect(await store.jobs.find("job_101")).toBeUndefined();
  expect(await createAt(61_000, "other")).toBeUndefined();
  expect(await createAt(3_600_999)).toBe(1);
  expect(await createAt(3_601_000)).toBeUndefined();
  expect(await createAt(3_601_000)).toBe(1000);

  for (let use = 0; use < 100; use++) expect(await store.turns.add("job_1", "Two", 5000)).toBe(true);
  expect(await store.turns.add("job_1", "Two", 5000)).toEqual({ retryAfterMs: 3_600_000 });
  expect(await store.turns.ofJob("job_1")).toHaveLength(101);
  expect(await store.turns.add("job_102", "Two", 5000)).toBe(true);
});

test("bounds the wait if the clock was set back, which does not escape the limit", async () => {
  const store = memoryStore();
  let ids = 0;
  const createAt = (at: number) => store.jobs.add({ id: `job_${++ids}`, project: "docs", createdAt: 0 }, "One", at);
  const day = 86_400_000;
  for (let use = 0; use < 100; use++) expect(await createAt(3 * day)).toBeUndefined();
  expect(await createAt(2 * day)).toEqual({ retryAfterMs: 3_600_000 });
  expect(await createAt(2 * day + 600_000)).toEqual({ retryAfterMs: 3_000_000 });
  expect(await createAt(2 * day + 3_600_000)).toBeUndefined();
});

test("does not count a create that could not be stored", async () => {
  const store = memoryStore();
  await addJob(store, "job_1", 1000);
  for (let use = 0; use < 200; use++) await expect(addJob(store, "job_1", 1000)).rejects.toThrow("UNIQUE");
  expect(await store.jobs.add({ id: "job_2", project: "docs", createdAt: 1000 }, "One")).toBeUndefined();
});
