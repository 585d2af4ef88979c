import { expect, test } from "vitest";
import { memoryStore } from "../../support/memory-store.ts";

test("belongs to the repository that was set last", async () => {
  const store = memoryStore();
  expect(await store.repositories.main()).toBeUndefined();
  for (const name of ["docs", "blog"]) await store.repositories.setMain(name);
  expect(await store.repositories.main()).toBe("blog");
});
