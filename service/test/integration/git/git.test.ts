import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { Git, GitError, type GitOptions } from "../../../src/git/git.ts";
import { readOperatorSettings } from "../../../src/git/settings.ts";
import { ResourceExhausted } from "../../../src/processes/resource-exhausted.ts";

afterEach(() => vi.unstubAllEnvs());

/** Creates a Git that knows the alias `sh`, which runs a shell script. */
function createGit(options: Partial<GitOptions> = {}): Git {
  const settings = () => [["alias.sh", '!f() { eval "$1"; }; f'] as const];
  return new Git({ cwd: temporaryFolder(), settings, ...options });
}

/** Returns the error that a command is rejected with. */
async function errorOf(run: Promise<unknown>): Promise<GitError> {
  const error = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GitError);
  return error as GitError;
}

describe("a command", () => {
  test("gets its input, and returns all of its output", async () => {
    const git = createGit();
    const input = `é${"x".repeat(300_000)}`;
    expect(await git.run(["sh", "cat"], { input })).toBe(input);
    expect(await git.run(["sh", "cat"])).toBe("");
    expect(await git.run(["sh", "echo out; echo error >&2"])).toBe("out\n");
  });

  test("may exit without reading its input", async () => {
    expect(await createGit().run(["sh", "true"], { input: "x".repeat(3_000_000) })).toBe("");
  });

  test("fails with its exit code and what it printed to stderr", async () => {
    const error = await errorOf(createGit().run(["sh", "echo; echo broken >&2; exit 3"]));
    expect(error).toMatchObject({ message: "git sh exited with 3: broken", exitCode: 3 });
  });

  test("fails with an error of its own if the machine lacks something, and not if Git only speaks of that", async () => {
    const script = "echo 'No space left on device' >&2; exit";
    const run = createGit().run(["sh", `${script} 1`]);
    await expect(run).rejects.toThrow(ResourceExhausted);
    await expect(run).rejects.toThrow(/^git sh exited with 1: No space left on device$/);
    expect(await createGit().run(["sh", `${script} 0`])).toBe("");
  });

  test("fails without Git's advice about how the service runs it", async () => {
    const cwd = temporaryFolder();
    const git = new Git({ cwd });
    await git.run(["init", "--quiet", "--bare"]);
    const [tree, parent] = ["4b825dc642cb6eb9a060e54bf8d69288fbee4904", "1".repeat(40)];
    const commit = `tree ${tree}\nparent ${parent}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nOne\n`;
    const id = (await git.run(["hash-object", "-t", "commit", "-w", "--stdin"], { input: commit })).trim();
    await expect(git.run(["rev-list", id])).rejects.toThrow(/^git rev-list exited with 128: error: /);
  });

  test("fails with the end of a long stderr", async () => {
    const error = await errorOf(createGit().run(["sh", "yes x | head -c 30000 >&2; echo end >&2; exit 1"]));
    expect(error.message).toMatch(/^git sh exited with 1: [x\n]{9990,}end$/);
    expect(error.message.length).toBeLessThan(10_050);
  });

  test("runs in the directory of its Git, or in another one", async () => {
    const [own, other] = [temporaryFolder(), temporaryFolder()];
    const git = createGit({ cwd: own });
    expect(await git.run(["sh", "pwd"])).toBe(`${own}\n`);
    expect(await git.run(["sh", "pwd"], { cwd: other })).toBe(`${other}\n`);
  });

  test("cannot be run where there is no Git", async () => {
    vi.stubEnv("PATH", temporaryFolder());
    await expect(createGit().run(["version"])).rejects.toThrow("ENOENT");
  });

  test("is prepared each time", async () => {
    let prepared = 0;
    const git = createGit({
      prepare: async () => {
        prepared++;
      },
    });
    for (let run = 0; run < 2; run++) await git.run(["version"]);
    expect(prepared).toBe(2);
    const failing = createGit({ prepare: () => Promise.reject(new Error("not prepared")) });
    await expect(failing.run(["version"])).rejects.toThrow("not prepared");
  });

  test("has the environment of its Git and its own, in English, and no terminal", async () => {
    vi.stubEnv("GITHUB_TOKEN", "secret");
    vi.stubEnv("LC_ALL", "de_DE.UTF-8");
    const git = createGit({ environment: { A: "git", B: "git" } });
    const script = 'echo "$A $B $GITHUB_TOKEN $LC_ALL $GIT_TERMINAL_PROMPT"';
    expect(await git.run(["sh", script], { environment: { B: "run" } })).toBe("git run  C 0\n");
  });

  test("has only the fixed settings and its own", async () => {
    const home = temporaryFolder();
    writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Someone\n[x]\n\ty = z\n");
    vi.stubEnv("HOME", home);
    const git = new Git({ cwd: home, settings: () => [["http.proxy", "http://proxy"]] });
    const settings = (await git.run(["config", "--list"])).trim().split("\n").sort();
    expect(settings).toEqual(
      [
        "advice.graftfiledeprecated=false",
        "core.attributesfile=/dev/null",
        `core.excludesfile=${resolve(import.meta.dirname, "../../../src/git/agent-files.gitignore")}`,
        "core.fsmonitor=false",
        "core.hookspath=/dev/null",
        "core.quotepath=false",
        "gc.auto=0",
        "http.lowspeedlimit=1",
        "http.lowspeedtime=60",
        "http.proxy=http://proxy",
        "maintenance.auto=false",
        "user.email=agent@localhost",
        "user.name=Agent",
      ].sort(),
    );
    expect(await createGit({ settings: () => [] }).run(["var", "GIT_AUTHOR_IDENT"])).toMatch(
      /^Agent <agent@localhost> /,
    );
  });

  test("does not follow replaced objects", async () => {
    const variables = ["GIT_NO_REPLACE_OBJECTS", "GIT_CONFIG_NOSYSTEM", "GIT_ATTR_NOSYSTEM", "GIT_GRAFT_FILE"];
    const output = await createGit().run(["sh", variables.map((name) => `echo "$${name}"`).join("; ")]);
    expect(output).toBe("1\n1\n1\n/dev/null\n");
  });
});

describe("a limit of the output", () => {
  test("cuts it off, and kills the command", async () => {
    const git = createGit();
    expect(await git.run(["sh", "printf 12345678; sleep 300"], { maxBytes: 7 })).toBe("1234567");
    expect(await git.run(["sh", "printf 1234567"], { maxBytes: 7 })).toBe("1234567");
    expect(await git.run(["sh", "printf 123456"], { maxBytes: 7 })).toBe("123456");
  });

  test("does not hide the failure of a command that printed less", async () => {
    const run = createGit().run(["sh", "printf 1234567; exit 1"], { maxBytes: 7 });
    expect((await errorOf(run)).exitCode).toBe(1);
  });
});

describe("stopping", () => {
  afterEach(() => void vi.useRealTimers());

  test("kills a command half a minute later, with all processes that it started", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    const stop = new AbortController();
    const cwd = temporaryFolder();
    const git = createGit({ cwd, signal: stop.signal });
    const run = errorOf(git.run(["sh", "sleep 300 & echo > started; wait"]));
    await vi.waitUntil(() => existsSync(join(cwd, "started")));
    stop.abort();
    // An agent's change can still be committed.
    expect(await git.run(["sh", "echo committed"])).toBe("committed\n");
    vi.advanceTimersByTime(30_000);
    // Only if the sleeping process is gone too: it holds the pipes.
    expect(await run).toMatchObject({ message: "git sh was stopped: ", exitCode: null });
    await expect(git.run(["sh", "echo committed"])).rejects.toThrow();
  });

  test("kills a command that talks to the repository's host at once", async () => {
    const stop = new AbortController();
    const settings = () => [["core.sshCommand", "sleep 600 #"] as const];
    const run = errorOf(createGit({ settings, signal: stop.signal }).run(["ls-remote", "ssh://host.invalid/docs"]));
    stop.abort();
    expect(await run).toMatchObject({ message: expect.stringContaining("git ls-remote was stopped") });
  });

  test("kills a command at its time limit", async () => {
    const error = await errorOf(createGit().run(["sh", "sleep 300"], { timeLimitMs: 60 }));
    expect(error).toMatchObject({ message: "git sh timed out after 0.001 min: ", exitCode: null });
  });

  test("lets no other command start", async () => {
    const cwd = temporaryFolder();
    const git = createGit({ cwd, signal: AbortSignal.abort(new Error("the service stops")) });
    await expect(git.run(["sh", "echo > started"])).rejects.toThrow("the service stops");
    expect(existsSync(join(cwd, "started"))).toBe(false);
  });
});

describe("a query", () => {
  test("is answered by the exit codes 0 and 1", async () => {
    const git = createGit();
    expect(await git.query(["sh", "echo yes"])).toBe("yes");
    expect(await git.query(["sh", "echo no; exit 1"])).toBeUndefined();
  });

  test("is not answered by a failure", async () => {
    expect((await errorOf(createGit().query(["sh", "exit 2"]))).exitCode).toBe(2);
    expect((await errorOf(createGit().query(["sh", "kill -SEGV $PPID $$"]))).exitCode).toBeNull();
    const stopped = createGit({ signal: AbortSignal.abort(new Error("the service stops")) });
    await expect(stopped.query(["version"])).rejects.toThrow("the service stops");
  });
});

test("reads the operator's settings for transfers once, as Git has them for a repository", async () => {
  const home = temporaryFolder();
  vi.stubEnv("HOME", home);
  const repository = join(temporaryFolder(), "docs.git");
  await createGit({ cwd: home, settings: () => [] }).run(["init", "--quiet", "--bare", repository]);
  writeFileSync(
    join(home, ".gitconfig"),
    `[http]\n\tproxy = http://proxy\n[filter "x"]\n\tclean = x\n[includeIf "gitdir:${repository}"]\n\tpath = more\n`,
  );
  writeFileSync(join(home, "more"), "[credential]\n\thelper = mine\n");
  writeFileSync(
    join(repository, "config"),
    `${readFileSync(join(repository, "config"), "utf8")}[ssh]\n\tvariant = ssh\n`,
  );
  vi.stubEnv("GIT_CONFIG_COUNT", "1");
  vi.stubEnv("GIT_CONFIG_KEY_0", "http.sslverify");
  vi.stubEnv("GIT_CONFIG_VALUE_0", "false");
  const settings = (await readOperatorSettings(repository)).filter(([name]) => !name.startsWith("safe."));
  expect(settings).toEqual(
    expect.arrayContaining([
      ["http.proxy", "http://proxy"],
      ["credential.helper", "mine"],
    ]),
  );
  expect(settings.map(([name]) => name)).not.toContain("ssh.variant");
  expect(settings.map(([name]) => name)).not.toContain("http.sslverify");
});

describe("a command that talks to the repository's host", () => {
  test.each([
    ["git://", (port: number) => `git://127.0.0.1:${port}/docs`],
    ["ssh://", () => "ssh://host.invalid/docs"],
  ])("fails by an outage if it gets no byte for a while over %s", async (_transport, urlOf) => {
    const server = createServer(() => {}).listen(0, "127.0.0.1");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const settings = () => [["core.sshCommand", "sleep 600 #"] as const];
    const git = createGit({ settings, stallMs: 240 });
    const error = await errorOf(git.run(["ls-remote", urlOf(port)]));
    expect(error.message).toContain("git ls-remote got no byte from the repository's host for 0.24 s");
    expect([error.isRemoteOutage, error.exitCode]).toEqual([true, null]);
  });

  test("is not silent while it reads or writes", async () => {
    const script = "i=0; while [ $i -lt 20 ]; do i=$((i+1)); echo >/dev/null; sleep 0.05; done; false #";
    const settings = () => [["core.sshCommand", script] as const];
    const error = await errorOf(createGit({ settings, stallMs: 600 }).run(["ls-remote", "ssh://host.invalid/docs"]));
    expect(error.exitCode).toBe(128);
  });

  test("fails by an outage if it takes too long", async () => {
    const settings = () => [["core.sshCommand", "sleep 600 #"] as const];
    const error = await errorOf(
      createGit({ settings }).run(["ls-remote", "ssh://host.invalid/docs"], { timeLimitMs: 60 }),
    );
    expect(error.isRemoteOutage).toBe(true);
  });
});

describe("a failure for lack of something", () => {
  test.each([
    ["its signal", "kill -9 $PPID"],
    ["the signal of a program that it started", "echo 'error: index-pack died of signal 9' >&2; exit 128"],
    ["the words of a shell", "echo 'sh: line 1: 12345 Killed  git index-pack' >&2; exit 128"],
  ])("is known by %s", async (_fact, script) => {
    await expect(createGit().run(["sh", script])).rejects.toBeInstanceOf(ResourceExhausted);
  });

  test("is known by the free space, whatever Git says, but not if Git answers no", async () => {
    const git = createGit({ freeBytes: async () => 99_000_000 });
    await expect(git.run(["sh", "echo 'error: unable to write file a' >&2; exit 128"])).rejects.toBeInstanceOf(
      ResourceExhausted,
    );
    expect(await git.query(["sh", "exit 1"])).toBeUndefined();
  });

  test("is no crash of Git: a file of an agent can be the cause", async () => {
    const error = await errorOf(createGit().run(["sh", "kill -SEGV $PPID"]));
    expect(error.message).toContain("git sh was killed by SIGSEGV");
  });
});
