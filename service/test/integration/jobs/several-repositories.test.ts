import { existsSync, readdirSync, renameSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import type { Sandbox, SandboxAccess } from "../../../src/agents/sandbox/sandbox.ts";
import { Problems } from "../../../src/api/problems.ts";
import { PerProject } from "../../../src/per-project.ts";
import type { ProjectOptions } from "../../../src/start/service.ts";
import { turnHost } from "../../../src/turns/turn-host.ts";
import {
  type AgentService,
  type AgentServiceOptions,
  docsRepository,
  projectOptions,
  readPage,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

/** An agent that writes its prompt to a file. */
const writer = (file: string) => ({ ...shellAgent(`cat > ${file}`), model: file });

/** Starts a service with these projects. It is stopped when the test ends. */
async function start(
  projects: Record<string, ProjectOptions>,
  options: AgentServiceOptions = {},
): Promise<AgentService & { stop: () => Promise<void> }> {
  const service = await startAgentService(docsRepository(), {
    projects: Object.keys(projects),
    settings: PerProject.of(new Map(Object.entries(projects))),
    host,
    ...options,
  });
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await service[Symbol.asyncDispose]();
    isStopped = true;
  };
  onTestFinished(stop);
  return { ...service, stop };
}

/** For a sandbox. */
const supervised = { host: turnHost };

/** Creates a job in a project and waits for it. */
async function run(service: AgentService, project: string, prompt = "Go on") {
  return waitForJob(service, (await send(service, `${project}/job`, prompt)).job.id, project);
}

const nameOf = (repository: DocsRepository): string => pathToFileURL(repository.path).href.replace(/\/$/, "");

/** Creates the repositories docs and site, with a project for each. */
function setUp() {
  const docs = docsRepository();
  const site = docsRepository();
  const projects = {
    docs: projectOptions(docs, { agent: writer("docs.md") }),
    site: projectOptions(site, { agent: writer("site.md") }),
  };
  return { docs, site, projects, folder: temporaryFolder() };
}

test("the jobs of each project change its own repository, with its own agent", async () => {
  const { docs, site, projects } = setUp();
  const service = await start(projects);
  const [ofDocs, ofSite] = await Promise.all([run(service, "docs", "One"), run(service, "site", "Two")]);
  const record = { status: "completed", archivedAt: null };
  expect([ofDocs, ofSite]).toMatchObject([
    { ...record, model: "docs.md", source: { repository: nameOf(docs) } },
    { ...record, model: "site.md", source: { repository: nameOf(site) } },
  ]);
  expect([docs.branches(), site.branches()]).toEqual([[`agent/${ofDocs.id}`], [`agent/${ofSite.id}`]]);
  expect(docs.read(`agent/${ofDocs.id}`, "docs.md")).toBe("One");
  expect(site.read(`agent/${ofSite.id}`, "site.md")).toBe("Two");
  expect((await send(service, `site/job/${ofDocs.id}`)).status).toBe(404);

  const pages = [await readPage(service, ofDocs.prLink), await readPage(service, ofSite.prLink)];
  const header = (name: string) => `Settings</a> <span class="quiet">${name}</span></nav>`;
  expect(pages[0]).toContain(header(nameOf(docs)));
  expect(pages[0]).toContain("docs.md");
  expect(pages[1]).toContain(header(nameOf(site)));
  expect(pages[1]).toContain("site.md");
  const list = await readPage(service, "/");
  expect(list).toContain(header(""));
  for (const { id } of [ofDocs, ofSite]) expect(list).toContain(`<a class="title" href="/job/${id}">`);
  expect(await readPage(service, "/?project=site")).toContain(header(nameOf(site)));
});

test("projects with the same repository share its clone, and each has its own base branch", async () => {
  const docs = docsRepository();
  docs.setHead("next", docs.head("main"));
  const next = projectOptions(docs, { agent: writer("next.md"), targetBranch: "next" });
  const service = await start({ docs: projectOptions(docs, { agent: writer("docs.md") }), next });
  const [one, two] = [await run(service, "docs"), await run(service, "next")];
  expect(await readPage(service, one.prLink)).toContain("into <code>main</code>");
  expect(await readPage(service, two.prLink)).toContain("into <code>next</code>");
  expect(readdirSync(service.folder)).toContain("mirror.git");
  expect(existsSync(join(service.folder, "clones"))).toBe(false);
});

test("a service can get more repositories and lose them again, and each keeps its clone", async () => {
  const { docs, projects, folder } = setUp();
  const shared = { folder, projects: ["docs"] };
  const one = await startAgentService(docs, { ...shared, agent: writer("docs.md"), host });
  const { id } = await run(one, "docs");
  await one[Symbol.asyncDispose]();
  // Only the clone still has the commit.
  docs.deleteBranch(`agent/${id}`);

  const several = await start(projects, { folder });
  await run(several, "site");
  await several.stop();
  expect(readdirSync(join(folder, "clones"))).toEqual([expect.stringMatching(/^docs_git-[0-9a-f]{16}$/)]);

  // As the configuration of only this project, because the store has jobs of the other one.
  const again = await start({ docs: projects.docs }, { folder });
  await send(again, `docs/job/${id}/message`, "More");
  expect((await waitForJob(again, id)).status).toBe("completed");
  expect(docs.git("rev-list", "--count", `main..agent/${id}`)).toBe("2");
  await again.stop();
  await expect(startAgentService(docs, shared)).rejects.toThrow(
    "the jobs of this store belong to the repository file:",
  );
});

describe("a project whose repository is another one", () => {
  test("is rejected, unless that has moved; then its clone goes on", async () => {
    const { site, projects, folder } = setUp();
    const first = await start(projects, { folder });
    const { id } = await run(first, "site");
    await first.stop();
    const moved = new DocsRepository({});
    onTestFinished(() => moved[Symbol.dispose]());
    site.git("push", "--quiet", moved.path, "main");
    const settings = { ...projects, site: { ...projects.site, repository: moved.path } };
    await expect(start(settings, { folder })).rejects.toThrow(
      `the jobs of the project site belong to the repository ${nameOf(site)}, not to ${nameOf(moved)}.`,
    );
    const second = await start(settings, { folder, isRepositoryMoved: true });
    expect(readdirSync(join(folder, "clones"))).toHaveLength(1);
    // The branch was not moved along.
    await send(second, `site/job/${id}/message`, "More");
    expect((await waitForJob(second, id, "site")).status).toBe("completed");
    expect(moved.git("rev-list", "--count", `main..agent/${id}`)).toBe("2");
    await second.stop();
    await start(settings, { folder });
  });
});

test("a project that is not configured any more keeps its jobs and waiting turns, and holds up no other", async () => {
  const { projects, folder } = setUp();
  const first = await start(projects, { folder });
  const ended = await run(first, "site");
  await first.stop();
  const second = await start(projects, { folder, agents: 0 });
  const { id } = (await send(second, "site/job", "Go on")).job;
  await second.stop();

  const without = await start({ docs: projects.docs }, { folder });
  expect((await run(without, "docs")).status).toBe("completed");
  expect(without.lines).toContain("Turns of projects that are not in --config wait: site (1 turn)");
  expect(await send(without, `site/job/${id}`)).toMatchObject({ status: 404, job: { error: "Project not found" } });
  const page = new URL(ended.prLink ?? "").pathname;
  await expect(readPage(without, page)).rejects.toThrow("the page was answered with 404");
  expect(await readPage(without, "/")).not.toContain(page);
  await without.stop();

  const again = await start(projects, { folder });
  expect((await waitForJob(again, id, "site")).status).toBe("completed");
  expect(await readPage(again, page)).toContain("site.md");
  expect(again.lines.join("\n")).not.toContain("--config");
});

test("an agent that is not installed is reported with its project", async () => {
  const { projects } = setUp();
  const settings = { ...projects, site: { ...projects.site, agent: shellAgent("no-such-agent") } };
  await expect(start(settings)).rejects.toThrow("project site: the agent no-such-agent was not found in PATH");
});

describe("a repository that cannot be reached", () => {
  test("is named when the service starts", async () => {
    const { projects } = setUp();
    const nowhere = join(temporaryFolder(), "nowhere");
    const settings = { ...projects, site: { ...projects.site, repository: nowhere } };
    await expect(start(settings)).rejects.toThrow(
      new RegExp(`^project \\w+, repository ${pathToFileURL(nowhere).href}: `),
    );
  });

  test("fails only the turns of its projects afterwards", async () => {
    const { site, projects } = setUp();
    const service = await start(projects);
    renameSync(site.path, `${site.path}.away`);
    const [ofDocs, ofSite] = await Promise.all([run(service, "docs"), run(service, "site")]);
    expect([ofDocs.status, ofSite.status]).toEqual(["completed", "failed"]);
    renameSync(`${site.path}.away`, site.path);
    expect((await run(service, "site")).status).toBe("completed");
  });
});

describe("a repository that has worked before", () => {
  const prepare = async () => {
    const { docs, site, projects, folder } = setUp();
    const before = await start(projects, { folder });
    await before.stop();
    const problems = new Problems(() => {});
    const isWaiting = async (service: AgentService, id: string) =>
      (await send(service, `docs/job/${id}`)).job.status === "active";
    return { docs, site, projects, folder, problems, isWaiting };
  };

  test("is away if it is gone when the service starts: its turns wait until it is back, and no other does", async () => {
    const { docs, projects, folder, problems, isWaiting } = await prepare();
    renameSync(docs.path, `${docs.path}.away`);
    const service = await start(projects, { folder, problems });
    const { job, status } = await send(service, "docs/job", "Go on");
    expect([status, problems.current.repositories?.problem]).toEqual([
      201,
      "turns of docs wait for their repository; the log says why",
    ]);
    expect(await run(service, "site")).toMatchObject({ status: "completed" });
    expect(await isWaiting(service, job.id)).toBe(true);
    expect(service.lines).toContainEqual(
      expect.stringMatching(/^Project docs, repository .* cannot be used now: .*Its turns wait/),
    );
    renameSync(`${docs.path}.away`, docs.path);
    expect(await waitForJob(service, job.id)).toMatchObject({ status: "completed" });
    expect(problems.current).toEqual({});
  });

  test("takes no place from eleven others while it is away, however many of its jobs wait", async () => {
    const repositories = Array.from({ length: 12 }, () => docsRepository());
    const folder = temporaryFolder();
    let isAccepted = true;
    const check = async () => {
      if (!isAccepted) throw new Error("the key is not accepted");
    };
    const names = repositories.map((_, index) => `p${index}`);
    const projects = Object.fromEntries(
      repositories.map((one, index) => [
        names[index] ?? "",
        { ...projectOptions(one, { agent: writer("page.md") }), ...(index === 1 && { check }) },
      ]),
    );
    await (await start(projects, { folder })).stop();
    const [gone] = repositories;
    renameSync(gone?.path ?? "", `${gone?.path}.away`);
    isAccepted = false;
    const service = await start(projects, { folder, agents: 2 });
    const bad = [];
    for (const project of ["p0", "p0", "p0", "p1", "p1"])
      bad.push([project, (await send(service, `${project}/job`, "Go on")).job.id] as const);
    const others = await Promise.all(names.slice(2).map((project) => run(service, project)));
    expect(others.map(({ status }) => status)).toEqual(others.map(() => "completed"));
    for (const [project, id] of bad) expect((await send(service, `${project}/job/${id}`)).job.status).toBe("active");
    isAccepted = true;
    renameSync(`${gone?.path}.away`, gone?.path ?? "");
    for (const [project, id] of bad)
      expect(await waitForJob(service, id, project)).toMatchObject({ status: "completed" });
  });

  test("is away if what its agent needs is refused, such as the key of its model", async () => {
    const { projects, folder, isWaiting } = await prepare();
    let isAccepted = false;
    const check = async () => {
      if (!isAccepted) throw new Error("the key is not accepted");
    };
    const service = await start({ ...projects, docs: { ...projects.docs, check } }, { folder });
    const { job } = await send(service, "docs/job", "Go on");
    expect(await run(service, "site")).toMatchObject({ status: "completed" });
    expect(await isWaiting(service, job.id)).toBe(true);
    isAccepted = true;
    expect(await waitForJob(service, job.id)).toMatchObject({ status: "completed" });
  });

  test("ends the start if no other works, and another one is a mistake that a new one makes", async () => {
    const { docs, site, projects, folder } = await prepare();
    renameSync(site.path, `${site.path}.away`);
    await expect(start({ site: projects.site }, { folder })).rejects.toThrow(/^project site, repository .*/);
    const settings = { ...projects, more: projectOptions(docs, { repository: join(docs.path, "missing") }) };
    await expect(start(settings, { folder })).rejects.toThrow(/^project more, repository .*missing/);
  });
});

test("the files that agents may read in a sandbox have no clone of another repository", async () => {
  const { projects } = setUp();
  const accesses: SandboxAccess[] = [];
  const sandbox: Sandbox = {
    isConfining: true,
    wrap: (command, access) => {
      accesses.push(access);
      return command;
    },
  };
  const service = await start({ docs: { ...projects.docs, sandbox }, site: { ...projects.site, sandbox } }, supervised);
  const [clone = ""] = readdirSync(join(service.folder, "clones"));
  const objects = {
    docs: join(service.folder, "mirror.git/objects"),
    site: join(service.folder, "clones", clone, "mirror.git/objects"),
  };
  for (const project of ["docs", "site"] as const) {
    accesses.length = 0;
    const { id } = await run(service, project);
    const ofJob = join(service.folder, "jobs", id);
    const visible = accesses.flatMap(({ readable, writable }) => [...readable, ...writable]);
    const ofService = visible.filter((path) => `${path}/`.startsWith(service.folder) && !path.startsWith(`${ofJob}/`));
    expect(new Set(ofService)).toEqual(new Set([objects[project]]));
  }
});

test("no worktree is kept if the agents of any project could change it", async () => {
  const { projects } = setUp();
  const confined: Sandbox = { isConfining: true, wrap: (command) => command };
  const safe = await start({ docs: { ...projects.docs, sandbox: confined } }, supervised);
  const tree = (service: AgentService, id: string) => join(service.folder, "jobs", id, "tree");
  expect(existsSync(tree(safe, (await run(safe, "docs")).id))).toBe(true);
  const unsafe = await start({ docs: { ...projects.docs, sandbox: confined }, site: projects.site }, supervised);
  expect(existsSync(tree(unsafe, (await run(unsafe, "docs")).id))).toBe(false);
});

describe("the credentials of a repository", () => {
  test("are sent only to that", async () => {
    const received: { path: string; user: string }[] = [];
    const server = createServer(({ url = "", headers: { authorization = "" } }, response) => {
      const user = Buffer.from(authorization.replace("basic ", ""), "base64").toString();
      received.push({ path: url.split("/")[1] ?? "", user });
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = (name: string) =>
      `http://${name}:key-of-${name}@127.0.0.1:${(server.address() as AddressInfo).port}/${name}`;
    const { docs: repository } = setUp();
    const projects = ["docs", "site"].map(
      (name) => [name, projectOptions(repository, { repository: address(name) })] as const,
    );
    // The first one that cannot be reached ends the start.
    for (const order of [projects, projects.toReversed()])
      await expect(start(Object.fromEntries(order))).rejects.toThrow();
    expect(new Set(received.map(({ path }) => path))).toEqual(new Set(["docs", "site"]));
    for (const { path, user } of received) expect(user).toBe(`${path}:key-of-${path}`);
  });

  test("must be the same for all its projects", async () => {
    const { docs: repository } = setUp();
    const of = (user: string) => projectOptions(repository, { repository: `https://${user}@git.example.com/docs` });
    await expect(start({ docs: of("a:secret"), more: of("b:secret") })).rejects.toThrow(
      "the projects with the repository https://git.example.com/docs must have the same credentials for it",
    );
  });
});
