import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { Git, GitError } from "../../../src/git/git.ts";
import { GitRepository, type RepositoryOptions } from "../../../src/git/git-repository.ts";
import { resolveAddress } from "../../../src/git/repository-address.ts";
import { docsRepository, folderWithClone, startAgentService } from "../../support/agent-service.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

async function open(docs: DocsRepository, options: Partial<RepositoryOptions> = {}) {
  const folder = folderWithClone(docs);
  const reopen = async (): Promise<GitRepository> => {
    const repository = new GitRepository({ url: docs.path, folder, ...options });
    await repository.open();
    return repository;
  };
  return { repository: await reopen(), reopen, clone: join(folder, "mirror.git") };
}

/** Adds a commit without a change. Returns it. */
const addCommit = (docs: DocsRepository, parent: string, message: string): string =>
  docs.git("commit-tree", `${parent}^{tree}`, "-p", parent, "-m", message);

/** Records the commands of Git, each as its words. */
function recordCommands(): () => string[][] {
  const run = vi.spyOn(Git.prototype, "run");
  return () => run.mock.calls.map(([args]) => [...args]);
}

test("a fetch that takes eleven minutes is not killed", async () => {
  const folder = temporaryFolder();
  const docs = docsRepository();
  const { repository } = await open(docs);
  const git = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
  const slow = `while [ ! -e "${folder}/go" ]; do sleep 0.02; done`;
  const script = `#!/bin/sh\ncase " $* " in *" fetch "*) touch "${folder}/begun"; ${slow};; esac\nexec "${git}" "$@"\n`;
  writeFileSync(join(folder, "git"), script, { mode: 0o755 });
  vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const fetched = repository.fetch(["main"]).then(
    () => "fetched",
    (error: unknown) => String(error),
  );
  while (!existsSync(join(folder, "begun"))) await new Promise((resolve) => setImmediate(resolve));
  await vi.advanceTimersByTimeAsync(11 * 60_000);
  writeFileSync(join(folder, "go"), "");
  expect(await fetched).toBe("fetched");
});

describe("opening the clone of an earlier service", () => {
  test("removes what a Git process that was killed left there", async () => {
    const { reopen, clone } = await open(docsRepository());
    mkdirSync(join(clone, "refs/heads/agent"));
    const left = ["packed-refs.lock", "refs/heads/agent/a.lock", "objects/pack/tmp_pack_1", "objects/pack/.tmp-1.pack"];
    for (const file of left) writeFileSync(join(clone, file), "");
    writeFileSync(join(clone, "objects/pack/other"), "");
    await reopen();
    expect(left.filter((file) => existsSync(join(clone, file)))).toEqual([]);
    expect(readdirSync(join(clone, "objects/pack"))).toEqual(["other"]);
  });

  test("removes the settings and hooks of its agents, and does so again before each command", async () => {
    const { repository, reopen, clone } = await open(docsRepository());
    const config = readFileSync(join(clone, "config"), "utf8");
    appendFileSync(join(clone, "config"), "[transfer]\n\tfsckObjects = x\n");
    mkdirSync(join(clone, "hooks"));
    await reopen();
    expect(readFileSync(join(clone, "config"), "utf8")).toBe(config);
    expect(existsSync(join(clone, "hooks"))).toBe(false);
    mkdirSync(join(clone, "hooks"));
    await repository.fetch(["main"]);
    expect(existsSync(join(clone, "hooks"))).toBe(false);
  });

  test("fails as Git does if the repository is gone, without advice about the clone", async () => {
    const folder = temporaryFolder();
    const opening = new GitRepository({ url: join(folder, "missing"), folder }).open();
    await expect(opening).rejects.toThrow(/^git ls-remote exited with 128: (?!.*damaged)/s);
  });

  test("requires a branch with a commit", async () => {
    await expect(open(docsRepository({}))).rejects.toThrow("the repository is empty: push a first commit to it");
    const docs = docsRepository();
    docs.git("symbolic-ref", "HEAD", "refs/heads/trunk");
    await expect(open(docs)).rejects.toThrow("the repository has no default branch: choose one with --base");
  });

  test("is opened again after an outage of its host, and not after another error", async () => {
    const docs = docsRepository();
    const folder = temporaryFolder();
    const { PATH } = process.env;
    const failing = (count: number, says: string) => {
      const script = `#!/bin/sh
        PATH='${PATH}'
        case "$*" in *ls-remote*) echo >> ${folder}/asked; [ $(wc -l < ${folder}/asked) -gt ${count} ] || { echo "${says}" >&2; exit 128; };; esac
        exec git "$@"`;
      rmSync(join(folder, "asked"), { force: true });
      writeFileSync(join(folder, "git"), `${script}\n`, { mode: 0o755 });
    };
    vi.stubEnv("PATH", `${folder}:${PATH}`);
    failing(1, "fatal: unable to access 'https://x/': The requested URL returned error: 502");
    await using service = await startAgentService(docs);
    expect(service.lines.join("\n")).toMatch(/returned error: 502\. It is tried again in 1 s\./);
    failing(1, "fatal: unable to access 'https://x/': The requested URL returned error: 403");
    await expect(startAgentService(docs)).rejects.toThrow("returned error: 403");
  });

  test("requires a Git that can merge many commits at once", async () => {
    const folder = temporaryFolder();
    const oldGit = "#!/bin/sh\necho git version 2.38.1\n";
    writeFileSync(join(folder, "git"), oldGit, { mode: 0o755 });
    const docs = docsRepository();
    vi.stubEnv("PATH", `${folder}:${process.env.PATH}`);
    for (let round = 0; round < 2; round++)
      await expect(open(docs)).rejects.toThrow("has git version 2.38.1. The agent service needs Git 2.39 or newer");
  });
});

describe("the other end of a transfer", () => {
  const allow = (path: string): void => {
    const home = temporaryFolder();
    execFileSync("git", ["config", "--file", join(home, ".gitconfig"), "safe.directory", path]);
    execFileSync("git", ["config", "--file", join(home, ".gitconfig"), "core.askPass", "x"]);
    vi.stubEnv("HOME", home);
  };
  /** Returns the options of the commands that start a program at the other end. */
  const optionsFor = (commands: string[][], command: string) =>
    commands
      .filter(([name]) => name === command)
      .flatMap((args) => args.filter((argument) => /^--(upload|receive)-pack=/.test(argument)));

  test("gets the umask and the directories that the operator allows, if it is on this machine", async () => {
    allow("/srv/it's");
    const docs = docsRepository();
    const { repository } = await open(docs, { umask: 0o027 });
    const commands = recordCommands();
    docs.setHead("new", docs.head("main"));
    await repository.fetch(["new"]);
    await repository.list();
    await repository.keep(docs.head("main"), "a");
    await repository.push(docs.head("main"), "agent/a", undefined);
    const settings = "umask 27 && exec git -c 'safe.directory=/srv/it'\\''s'";
    expect(optionsFor(commands(), "ls-remote")).toEqual([`--upload-pack=${settings} upload-pack`]);
    expect(optionsFor(commands(), "fetch")).toEqual([`--upload-pack=${settings} upload-pack`]);
    expect(optionsFor(commands(), "push")).toEqual([`--receive-pack=${settings} receive-pack`]);
  });

  test("gets the umask of the process by default, also by a file: URL", async () => {
    const docs = docsRepository();
    const commands = recordCommands();
    await open(docs, { url: pathToFileURL(docs.path).href });
    expect(optionsFor(commands(), "ls-remote").join()).toContain(`=umask ${process.umask().toString(8)} && exec git `);
  });

  test("gets nothing if it is on another machine", async () => {
    vi.spyOn(Git.prototype, "run").mockResolvedValue("");
    const commands = recordCommands();
    await new GitRepository({ url: "https://127.0.0.1/docs", folder: temporaryFolder() }).list();
    expect(commands()[0]).toEqual([
      "ls-remote",
      "--symref",
      "--",
      "https://127.0.0.1/docs",
      "HEAD",
      "refs/heads/*",
      "refs/agent-work/*",
    ]);
  });
});

test("Git has the settings of the operator for transfers, and those of the repository", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, ".gitconfig"), "[http]\n\tproxy = http://proxy\n");
  vi.stubEnv("HOME", home);
  const { repository } = await open(docsRepository(), { settings: () => [["http.extraHeader", "X: y"]] });
  const run = vi.spyOn(Git.prototype, "run");
  await repository.jobIds();
  const [git] = run.mock.contexts as Git[];
  const list = (await git?.run(["config", "--list"]))?.split("\n");
  expect(list).toEqual(expect.arrayContaining(["http.proxy=http://proxy", "http.extraheader=X: y"]));
});

/** Starts a server that rejects everything. Returns its requests: each with all its credentials. */
async function rejectingServer() {
  const requests: string[] = [];
  const server = createServer(({ rawHeaders, url = "" }, response) => {
    const given = rawHeaders.filter((_, index) => /^authorization$/i.test(rawHeaders[index - 1] ?? ""));
    requests.push(`${url.split("?")[0]} ${given.map((one) => Buffer.from(one.slice(6), "base64")).join(", ")}`);
    response.writeHead(401, { "WWW-Authenticate": 'Basic realm="docs"' }).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, requests };
}

const headerOf = (credentials: string) => `AUTHORIZATION: basic ${btoa(credentials)}`;

test.each<[string, (origin: string) => string]>([
  ["a header for all hosts", () => `[http]\n\textraheader = ${headerOf("x:other")}\n`],
  ["a header for the host", (origin) => `[http "${origin}/"]\n\textraheader = ${headerOf("x:other")}\n`],
  ["a header for the owner", (origin) => `[http "${origin}/acme"]\n\textraheader = ${headerOf("x:other")}\n`],
  ["a header that is no credential", (origin) => `[http "${origin}/acme/docs.git"]\n\textraheader = X: y\n`],
  ["a helper", () => '[credential]\n\thelper = "!touch ~/asked; echo username=x; echo password=other; :"\n'],
  [
    "a helper for the owner",
    (origin) =>
      `[credential]\n\tuseHttpPath = true\n[credential "${origin}/acme"]\n\thelper = "!touch ~/asked; echo username=x; echo password=other; :"\n`,
  ],
  ["a program that is asked", () => ""],
  ["another address", (origin) => `[url "${origin}/else/"]\n\tinsteadOf = ${origin}/acme/\n`],
  ["another address for pushes", (origin) => `[url "${origin}/else/"]\n\tpushInsteadOf = ${origin}/acme/\n`],
])("a given token is sent alone, although the operator has %s", async (_what, settings) => {
  const { origin, requests } = await rejectingServer();
  const home = temporaryFolder();
  writeFileSync(join(home, "included"), settings(origin));
  // As later versions of actions/checkout write it.
  writeFileSync(join(home, ".gitconfig"), `[includeIf "gitdir:**"]\n\tpath = ${join(home, "included")}\n`);
  vi.stubEnv("HOME", home);
  writeFileSync(join(home, "ask"), "#!/bin/sh\ntouch ~/asked\necho x\n", { mode: 0o755 });
  vi.stubEnv("GIT_ASKPASS", join(home, "ask"));
  vi.stubEnv("GIT_CONFIG_COUNT", "1");
  vi.stubEnv("GIT_CONFIG_KEY_0", "http.extraheader");
  vi.stubEnv("GIT_CONFIG_VALUE_0", headerOf("x:other"));
  const { address, settings: given } = resolveAddress(`${origin}/acme/docs.git`, () => "given");
  const repository = new GitRepository({ url: address, folder: temporaryFolder(), settings: given });
  await expect(repository.open()).rejects.toThrow(/Authentication failed|could not read Username/);
  await expect(repository.push(undefined, "a", undefined)).rejects.toThrow(GitError);
  expect(new Set(requests)).toEqual(new Set(["/acme/docs.git/info/refs x-access-token:given"]));
  expect([requests.length > 1, existsSync(join(home, "asked"))]).toEqual([true, false]);
});

test("a clone that is broken is not taken for one that it is in", async () => {
  const { repository, clone } = await open(docsRepository());
  execFileSync("git", ["init", "--quiet", dirname(clone)]);
  rmSync(join(clone, "HEAD"));
  await expect(repository.jobIds()).rejects.toThrow("not a git repository");
});

test("callers share a fetch that has not begun, and no other", async () => {
  const docs = docsRepository();
  const { repository } = await open(docs);
  const commands = recordCommands();
  const fetches = () => commands().filter(([command]) => command === "fetch").length;
  docs.setHead("other", docs.head("main"));
  const first = repository.fetch(["main"]);
  expect(repository.fetch(["other"])).toBe(first);
  // Now it has begun.
  await vi.waitUntil(() => fetches() === 1, { interval: 1 });
  const second = repository.fetch(["main"]);
  expect(second).not.toBe(first);
  await Promise.all([first, second]);
  expect(fetches()).toBe(2);
  expect(await repository.branchHead("other")).toBe(docs.head("main"));
});

test("returns the branches with their heads", async () => {
  const docs = docsRepository();
  const head = docs.head("main");
  const other = addCommit(docs, "main", "Other");
  docs.setHead("agent/a", other);
  const { repository } = await open(docs);
  expect(await repository.branchHeads()).toEqual(new Map(Object.entries({ "agent/a": other, main: head })));
});

test("does not say whether something is merged if that cannot be known", async () => {
  const { repository } = await open(docsRepository());
  await expect(repository.isMerged("main", "missing")).rejects.toThrow("the branch missing is missing");
  const commit = "1".repeat(40);
  await expect(repository.isMerged(commit, "main")).rejects.toThrow(`the commit ${commit} is missing in the clone`);
});

test("cuts off the subject of a commit that is as long as a book", async () => {
  const docs = docsRepository();
  const message = join(temporaryFolder(), "message");
  writeFileSync(message, "x".repeat(1_200_000));
  const commit = docs.git("commit-tree", "main^{tree}", "-p", "main", "-F", message);
  docs.setHead("agent/a", commit);
  const { repository } = await open(docs);
  await repository.fetch(["agent/a"]);
  const [latest] = await repository.latestCommits("main", "agent/a", 1);
  expect(latest?.commit).toBe(commit);
  expect(latest?.subject).toHaveLength(1_000_000 - `${commit} `.length);
});

test("finds the last commit of a job by its whole id", async () => {
  const docs = docsRepository();
  const { repository, clone } = await open(docs);
  const head = docs.head("main");
  execFileSync("git", ["-C", clone, "update-ref", "refs/jobs/job_1/other", head]);
  expect(await repository.lastCommitOf("job_1")).toBeUndefined();
});

test("a repository with ids of SHA-256 is named as such", async () => {
  const folder = temporaryFolder();
  execFileSync("git", ["init", "--quiet", "--bare", "--object-format=sha256", "--initial-branch=main", folder]);
  const git = (...args: string[]) =>
    execFileSync("git", ["-C", folder, "-c", "user.name=A", "-c", "user.email=a@b.c", ...args], {
      encoding: "utf8",
      input: "",
    });
  git("update-ref", "refs/heads/main", git("commit-tree", git("mktree").trim(), "-m", "One").trim());
  const repository = new GitRepository({ url: folder, folder: temporaryFolder() });
  await expect(repository.open()).rejects.toThrow("the repository has ids of SHA-256, and the service works only on");
});
