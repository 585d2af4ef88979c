import { expect, test } from "vitest";
import { checkRepository, repositoryIdentity } from "../../../../src/service/jobs/repository-check.ts";

test.each([
  ["https://github.com/acme/docs", "https://github.com/acme/docs"],
  ["https://GitHub.com/acme/docs.git/", "https://github.com/acme/docs"],
  ["https://github.com/acme/docs?token=secret#x", "https://github.com/acme/docs"],
  ["ssh://git:secret@example.com:22/acme/docs.git", "ssh://git@example.com:22/acme/docs"],
  ["ssh://git:se:c@ret@example.com/acme/docs", "ssh://git@example.com/acme/docs"],
  ["file://user:secret@localhost/srv/docs", "file://user@localhost/srv/docs"],
  ["git@github.com:acme/docs", "git@github.com:acme/docs"],
  ["file:///srv/docs/", "file:///srv/docs"],
  ["file:///srv/docs.git", "file:///srv/docs.git"],
])("remembers %s as %s", (name, identity) => {
  expect(repositoryIdentity(name)).toBe(identity);
});

test("rejects another repository, and names both", async () => {
  const store = (name: string | undefined) => ({ repository: async () => name });
  await checkRepository(store(undefined), "https://example.com/docs");
  await checkRepository(store("https://example.com/docs"), "https://example.com/docs");
  await expect(checkRepository(store("https://example.com/old"), "https://example.com/docs")).rejects.toThrow(
    "belong to the repository https://example.com/old, not to https://example.com/docs",
  );
});
