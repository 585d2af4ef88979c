import { describe, expect, test } from "vitest";
import { addJob, memoryStore } from "../../support/memory-store.ts";

describe("pull requests", () => {
  test("belong to one job", async () => {
    const store = memoryStore();
    for (const id of ["a", "b"]) await addJob(store, id);
    const pullRequest = { job: "a", title: "Fix", branch: "agent/a", target: "main", base: "000", head: "111" };
    expect(await store.pullRequests.add(pullRequest)).toBe(1);
    expect(await store.pullRequests.add({ ...pullRequest, job: "b" })).toBe(2);
    expect(await store.pullRequests.update(1, "b", "222", "333")).toBe(false);
    expect(await store.pullRequests.find(1)).toEqual({ number: 1, ...pullRequest });
    expect(await store.pullRequests.update(1, "a", "222", "333")).toBe(true);
    expect(await store.pullRequests.find(1)).toMatchObject({ base: "222", head: "333" });
    expect(await store.pullRequests.find(2)).toMatchObject({ base: "000", head: "111" });
    expect(await store.pullRequests.find(3)).toBeUndefined();
  });
});
