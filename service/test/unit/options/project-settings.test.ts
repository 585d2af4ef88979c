import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { createProjectSettings } from "../../../src/options/project-settings.ts";

const environment = {
  DEPLOY_TOKEN: "0123456789\n",
  REGION: "eu-west-1",
  GITHUB_TOKEN: " ghp_0123456789",
  DATABASE_URL: "postgres://docs:12345678@db/docs",
  DOCS_PAT: "pat-4711\n",
  HEADERS: "X-Key: 4711",
  BUILD: "build-4711",
  SITE: "site-4711",
};

test.each<[string, Parameters<typeof createProjectSettings>[0], string[]]>([
  ["the token", { repository: "docs" }, ["ghp_0123456789"]],
  ["a project's own token", { repository: "docs", githubTokenEnv: "DEPLOY_TOKEN" }, ["ghp_0123456789", "0123456789"]],
  [
    "the password of the repository's URL, as it is and not as the URL writes it,",
    { repository: "https://bot:p%40ss-word@git.example.com/docs.git" },
    ["ghp_0123456789", "p@ss-word"],
  ],
  [
    "each value of --agent-env that can be a secret",
    {
      repository: "docs",
      agentEnv: ["DEPLOY_TOKEN", "REGION", "DATABASE_URL", "DOCS_PAT", "HEADERS", "SITE"],
      agentEnvPublic: ["BUILD", "SITE"],
    },
    ["ghp_0123456789", "0123456789", "postgres://docs:12345678@db/docs", "pat-4711", "X-Key: 4711"],
  ],
])("%s is kept from changes", (_, input, expected) => {
  expect(Array.from(createProjectSettings(input, environment).secrets, ({ value }) => value).sort()).toEqual(
    expected.toSorted(),
  );
});

test("the passwords of proxies are kept from changes, and agents may have them", () => {
  const variables = { HTTPS_PROXY: "http://me:p%40ss-word@proxy:3128", all_proxy: "me:s3cret-99@proxy" };
  const input = { repository: "docs", agent: "agent", agentEnvPublic: ["HTTPS_PROXY"] };
  expect(Array.from(createProjectSettings(input, variables).secrets, ({ value }) => value)).toEqual([
    "p@ss-word",
    "s3cret-99",
  ]);
});

const settingsOf = (input: Partial<Parameters<typeof createProjectSettings>[0]>, variables = {}) =>
  createProjectSettings({ repository: "https://github.com/acme/docs.git", ...input }, variables);

test("reads who commits, and what commits say", () => {
  const commitAs = "Docs Bot  <bot+docs@example.com>";
  const trailers = ["Assisted-by: Claude <noreply@example.com>", "Refs: DOC-1"];
  expect(settingsOf({ commitAs, signOff: true, trailers })).toMatchObject({
    commitAs: { name: "Docs Bot", email: "bot+docs@example.com" },
    signsOff: true,
    trailers,
  });
  const named = { branchPrefix: "docs/agent-", titlePrefix: "docs(site):", draft: true };
  expect(settingsOf(named, environment)).toMatchObject({
    branchPrefix: "docs/agent-",
    titlePrefix: "docs(site):",
    opensDrafts: true,
  });
  expect(settingsOf({ signOff: true }, environment)).toMatchObject({ commitAs: undefined, signsOff: true });
  expect(settingsOf({})).toMatchObject({ commitAs: undefined, signsOff: false, trailers: [], only: undefined });
});

test.each<[Parameters<typeof settingsOf>[0], string]>([
  ...["Bot", "Bot <bot>", "<bot@example.com>", "Bot <a@b> x", "Bo\nt <a@b>", "Bot <a@b\u0000>", "B<o>t <a@b>"].map(
    (commitAs): [Parameters<typeof settingsOf>[0], string] => [
      { commitAs },
      `--commit-as must be "NAME <EMAIL>", not ${JSON.stringify(commitAs)}.`,
    ],
  ),
  ...["Refs", "Refs:", "Refs: ", "Refs:x", "A b: x", "-a: x", "Refs: x\nB: y", "Refs: x\u2028B: y"].map(
    (one): [Parameters<typeof settingsOf>[0], string] => [
      { trailers: [one] },
      `--trailer must be "KEY: VALUE" in one line, not ${JSON.stringify(one)}.`,
    ],
  ),
  ...["agent-turn", "Agent-Turn"].map((key): [Parameters<typeof settingsOf>[0], string] => [
    { trailers: [`${key}: 1`] },
    `--trailer ${key} is taken: trailers of the service begin with Agent-.`,
  ]),
  [{ signOff: true }, "--sign-off requires --commit-as, or the token of a bot on GitHub."],
  ...["-x/", "/docs/", "a..b", "a//b", "a/.b", "a.lock/b", "a b", "a:", "docs/*", "a\nb"].map(
    (branchPrefix): [Parameters<typeof settingsOf>[0], string] => [
      { branchPrefix },
      `--branch-prefix must be the beginning of a branch's name, such as docs/agent-, not ${JSON.stringify(branchPrefix)}.`,
    ],
  ),
  ...["a\nb", "a\u2028b", "a\u202eb", "x".repeat(41)].map((titlePrefix): [Parameters<typeof settingsOf>[0], string] => [
    { titlePrefix },
    `--title-prefix must be 1 to 40 characters in one line, not ${JSON.stringify(titlePrefix)}.`,
  ]),
  [{ draft: true }, "--draft requires a repository on GitHub, and its token."],
  [{ protect: ["deploy/", "!docs/"] }, "--protect cannot except files, as !docs/ would."],
  [{ only: ["docs/**", "src/[b"] }, '--only: "src/[b" has a bracket that is not closed.'],
  [{ only: ["!docs/**"] }, '--only: "!docs/**" only excludes files; add a pattern without ! before it, such as **.'],
])("%j is refused", (input, problem) => {
  expect(() => settingsOf(input)).toThrow(problem);
});

const secret = "0123456789abcdef";

test.each<[string, Partial<Parameters<typeof createProjectSettings>[0]>, NodeJS.ProcessEnv]>([
  ["INPUT_GITHUB-TOKEN", {}, {}],
  ["ACTIONS_RUNTIME_TOKEN", {}, {}],
  ["ACTIONS_ID_TOKEN_REQUEST_TOKEN", {}, {}],
  ["AGENT_SERVICE_KEY", {}, {}],
  ["GH_TOKEN", {}, {}],
  ["DEPLOY_TOKEN", { githubTokenEnv: "DEPLOY_TOKEN" }, { DEPLOY_TOKEN: secret }],
  ["PGPASSWORD", {}, { PGPASSWORD: secret }],
  // By its value.
  ["MY_TOKEN", {}, { MY_TOKEN: secret, GITHUB_TOKEN: secret }],
  ["MY_HEADER", {}, { MY_HEADER: `Bearer ${secret}`, GH_TOKEN: secret }],
  ["MY_KEY", {}, { MY_KEY: "short", AGENT_SERVICE_KEY: "short" }],
  ["MY_TOKEN", {}, { MY_TOKEN: secret, ACTIONS_RUNTIME_TOKEN: secret }],
  ["MY_PASSWORD", { repository: `https://bot:${secret}@git.example.com/docs.git` }, { MY_PASSWORD: secret }],
])("no agent gets %s, which is the service's or the runner's", (name, input, variables) => {
  const problem = `--agent-env must not name ${name}`;
  expect(() => settingsOf({ agent: "agent", agentEnv: ["REGION", name], ...input }, variables)).toThrow(problem);
});

test("an agent gets other variables, and a model's key that is the workflow's token stays outside its sandbox", () => {
  const variables = { MY_KEY: "short and long", AGENT_SERVICE_KEY: "short", COPILOT_GITHUB_TOKEN: secret };
  const agentEnv = ["MY_KEY", "COPILOT_GITHUB_TOKEN"];
  const { agent, network } = settingsOf({ agent: "copilot", agentEnv }, { ...variables, GH_TOKEN: secret });
  expect(agent.passes).toEqual(expect.arrayContaining(agentEnv));
  expect(network).toBe("model");
});

test.each([
  [
    "as actions/checkout wrote it",
    "repo/docs/.git/config",
    '[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic x\n',
  ],
  [
    "as actions/checkout writes it",
    "_temp/git-credentials-1a2b.config",
    '[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic x\n',
  ],
  [
    "in an address",
    "a/.git/modules/b/config",
    '[remote "origin"]\n\turl = https://x-access-token:t0ken@github.com/a/b\n',
  ],
  ["in a file of a helper", "home/.git-credentials", "https://me:t0ken@github.com\n"],
])("agents may read no folder below which a token of Git stands %s", (_how, file, text) => {
  const folder = temporaryFolder();
  const place = join(folder, file);
  mkdirSync(dirname(place), { recursive: true });
  mkdirSync(join(folder, "other/.git"), { recursive: true });
  writeFileSync(
    join(folder, "other/.git/config"),
    '[includeIf "gitdir:x"]\n\tpath = /else\n[remote "origin"]\n\turl = https://github.com/a/b\n',
  );
  const other = join(folder, "other");
  expect(settingsOf({ agentReads: [other] }).agent.reads).toEqual(expect.arrayContaining([other]));
  writeFileSync(place, text);
  for (const path of [folder, dirname(place), place])
    expect(() => settingsOf({ agentReads: [other, path] })).toThrow(
      `--agent-reads ${path} would let agents read the token of Git in ${place}.`,
    );
});

test("agents may read what only looks like the machine's files, and none of these, not even through a link", async () => {
  const folder = temporaryFolder();
  const [link, sockets, toSocket] = [join(folder, "link"), join(folder, "sockets"), join(folder, "to-socket")];
  const socket = join(sockets, "s");
  symlinkSync("/proc", link);
  symlinkSync(socket, toSocket);
  mkdirSync(sockets);
  const server = createServer().listen(socket);
  await once(server, "listening");
  const kernel = ["/proc", "/proc/1/environ", "/sys/", "/dev/shm", "/opt/../proc", "/", link];
  const runtime = ["/run", "/run/user/1000", "/var/run/docker.sock", "/var", "/tmp", sockets, socket, toSocket];
  for (const path of [...kernel, ...runtime])
    expect(() => settingsOf({ agentReads: [folder, path] }), path).toThrow("would let agents reach processes, devices");
  server.close();
  await once(server, "close");
  const reads = [folder, sockets, "/dev/shm/x", "/process", "/development/dev", "/running", "/var/lib/x", "/tmp/x"];
  expect(settingsOf({ agentReads: reads }).agent.reads).toEqual(expect.arrayContaining(reads));
});

test.each([
  [{ agentEnv: ["REGION=eu"] }, "--agent-env must have the name REGION alone: set its value in the environment."],
  [{ agentEnvPublic: ["MISSING"] }, "--agent-env MISSING requires this variable in the environment."],
  [{ agentEnv: ["EMPTY_TOKEN"] }, "--agent-env EMPTY_TOKEN requires this variable in the environment."],
  [{ only: ["./docs/**"] }, '--only: "./docs/**" begins with ./, as no path does.'],
  [{ only: ["/docs/**"] }, '--only: "/docs/**" begins with /, as no path does.'],
  [{ only: ["docs/**", "!/a"] }, '--only: "!/a" begins with /, as no path does.'],
  [{ only: ["- docs/**"] }, '--only: "- docs/**" begins with the dash of a list.'],
  [{ only: ["'docs/**'"] }, "--only: \"'docs/**'\" has quotation marks."],
  [{ only: ["docs/../src/**"] }, '--only: "docs/../src/**" has .. in it, as no path does.'],
  [{ only: ["docs/** # pages"] }, '--only: "docs/** # pages" has a comment: write that in a line of its own.'],
  [{ only: ["docs/**,src/**"] }, '--only: "docs/**,src/**" has a comma: write one pattern in each line.'],
  [{ only: ["docs\\guide\\**"] }, "has a backslash between folders: write /."],
  [{ only: ["# pages"] }, '--only: "# pages" has a comment: write that in a line of its own.'],
  [{ modelHosts: ["https://api.example.com"] }, "--model-host https://api.example.com is not a HOST or HOST:PORT."],
  [
    { modelHosts: ["localhost:11434"] },
    "--model-host localhost:11434 is this machine, which a sandbox with a network of its own does not reach",
  ],
  [{ modelHosts: ["127.0.0.1"] }, "--model-host 127.0.0.1 is this machine"],
  [{ protect: ["./deploy"] }, '--protect: "./deploy" begins with ./, as no path does.'],
])("rejects what can never work, before a job: %o", (input, problem) => {
  expect(() => settingsOf({ agent: "agent", ...input }, { EMPTY_TOKEN: " " })).toThrow(problem);
});

test("patterns that look unusual may match", () => {
  const only = ["a,b.md", "docs/it's.md", "#a", "docs/"];
  expect(settingsOf({ only, protect: ["/deploy", "*.sh"] }).only?.patterns).toEqual(only);
});
