import { describe, expect, test } from "vitest";
import { PerProject } from "../../../src/per-project.ts";
import {
  checkRepositories,
  ownProjects,
  repositoryIdentity,
  updateRepositories,
} from "../../../src/start/repository-check.ts";

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

const docs = "https://example.com/docs";
const site = "https://example.com/site";
const moved = "https://example.com/moved";

const known = (ofProjects: Record<string, string>, main?: string) => ({
  ofProjects: new Map(Object.entries(ofProjects)),
  main,
});
const configured = (projects: Record<string, string>) => PerProject.of(new Map(Object.entries(projects)));

describe("a service with one repository", () => {
  const one = PerProject.same(docs);

  test("has all jobs of its store", () => {
    checkRepositories(known({}), one, []);
    checkRepositories(known({ demo: docs, other: docs }, docs), one, ["demo"]);
    expect(updateRepositories(known({}), one, ["demo", "other"])).toEqual(known({ demo: docs, other: docs }, docs));
  });

  test("rejects jobs of another one, and names both", () => {
    const error = `the jobs of this store belong to the repository ${site}, not to ${docs}.`;
    for (const other of [known({ demo: docs, site }, docs), known({ demo: site }, site), known({}, site)])
      expect(() => checkRepositories(other, one, [])).toThrow(error);
  });

  test("has all jobs of its store also after it has moved", () => {
    expect(updateRepositories(known({ demo: docs, other: docs }, docs), PerProject.same(moved), ["demo"])).toEqual(
      known({ demo: moved, other: moved }, moved),
    );
  });
});

describe("the projects of a running service", () => {
  const ofStore = (names: Record<string, string>) => ({
    ofProjects: async () => new Map(Object.entries(names)),
  });

  test("are all that it has, as long as nobody gives one of them another repository", async () => {
    const one = PerProject.same(docs);
    expect(await ownProjects(ofStore({}), one)).toBeUndefined();
    expect(await ownProjects(ofStore({ demo: docs, more: docs }), one)).toBeUndefined();
    expect(await ownProjects(ofStore({ docs, other: moved }), configured({ docs, site }))).toBeUndefined();
  });

  test("are only those that still have its repositories", async () => {
    expect(await ownProjects(ofStore({ demo: docs, site }), PerProject.same(docs))).toEqual(["demo"]);
    expect(await ownProjects(ofStore({ docs, site: moved }), configured({ docs, site }))).toEqual(["docs"]);
    expect(await ownProjects(ofStore({ demo: moved }), PerProject.same(docs))).toEqual([]);
  });
});

describe("a configuration", () => {
  test("may leave out projects, add some, and bind several to one repository", () => {
    const earlier = known({ docs, removed: site }, docs);
    const now = configured({ docs, more: docs, other: site });
    checkRepositories(earlier, now, ["docs", "removed"]);
    expect(updateRepositories(earlier, now, ["docs", "more", "other", "without"])).toEqual(
      known({ docs, more: docs, other: site, removed: site }, docs),
    );
  });

  test("rejects another repository for the jobs of a project, which it names", () => {
    const check = (withJobs: string[]) =>
      checkRepositories(known({ docs, site }, docs), configured({ docs, site: moved }), withJobs);
    const error = `the jobs of the project site belong to the repository ${site}, not to ${moved}.`;
    expect(() => check(["docs", "site"])).toThrow(error);
    // It has none that could be lost.
    check(["docs"]);
  });

  test.each([
    {
      what: "stays while a project has it",
      from: { docs, manual: docs },
      to: { docs: moved, manual: docs },
      main: docs,
    },
    { what: "stays if only a removed project has it", from: { docs, old: docs }, to: { docs: moved }, main: docs },
    { what: "moves with its projects", from: { site, docs }, to: { site, docs: moved }, main: moved },
    { what: "is another one if nothing belongs to it", from: { site }, to: { site }, main: site },
  ])("the repository in the service's folder $what", ({ from, to, main }) => {
    expect(updateRepositories(known(from, docs), configured(to), []).main).toBe(main);
  });

  test("puts its first repository into the service's folder if none is there", () => {
    expect(updateRepositories(known({}), configured({ site, docs }), ["site", "docs"]).main).toBe(site);
  });
});
