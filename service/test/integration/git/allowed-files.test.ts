import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { shellAgent } from "../../../src/agents/agent.ts";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";
import type { Secret } from "../../../src/secret-patterns.ts";
import {
  docsRepository,
  folderWithClone,
  runJob,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";
import { startPullRequestServer } from "../../support/pull-request-server.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

const files = {
  ".gitignore": "build/\n",
  "README.md": "hello\n",
  "docs/a.md": "a\n",
  "docs/old.md": "old\n",
  "docs/sub/b.md": "b\n",
  "src/code.js": "1\n",
  "src/gone.js": "2\n",
};

/** Runs a job of an agent that may change only some files. */
async function run(command: string, patterns = ["docs/**", "!docs/old.md"], secrets?: Secret[]) {
  const server = await startPullRequestServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const bodies: string[] = [];
  server.answer = (request, body) => {
    if (request.startsWith("POST /repos")) bodies.push((JSON.parse(body) as { body: string }).body);
    return undefined;
  };
  const docs = docsRepository(files);
  const github = { apiUrl: server.url, owner: "acme", name: "docs", token: "token_0123456789" };
  const only = readPathPatterns(patterns);
  const options = { agent: shellAgent(command), host, github, only, secrets, largestChangeBytes: 100_000 };
  const service = await startAgentService(docs, options);
  onTestFinished(() => service[Symbol.asyncDispose]());
  const job = await runJob(service, "Go on");
  const log = readFileSync(join(service.folder, "logs", `${job.id}.log`), "utf8");
  const branch = `agent/${job.id}`;
  const changes = job.status === "completed" ? docs.git("diff", "--name-status", "main", branch) : "";
  return { docs, job, log, branch, changes: changes.split("\n"), bodies };
}

const change =
  "echo new > docs/a.md; echo x > docs/new.md; rm docs/sub/b.md;" +
  " echo x > docs/old.md; echo 2 > src/code.js; rm src/gone.js; mkdir lib; echo x > lib/new.js; ln -s x link;";

test("changes of other files are taken back: changed, deleted and new ones, and links", async () => {
  const { docs, log, branch, changes, bodies } = await run(change);
  expect(changes).toEqual(["M\tdocs/a.md", "A\tdocs/new.md", "D\tdocs/sub/b.md"]);
  const names = ["docs/old.md", "lib/new.js", "link", "src/code.js", "src/gone.js"];
  expect(log).toContain(`Changes of files that --only does not allow are taken back: ${names.join(", ")}\n`);
  const told = names.map((name) => `  ${name}\n`).join("");
  expect(bodies).toEqual([
    expect.stringContaining(`Taken back, because \`--only\` does not allow it:\n\n\`\`\`text\n${told}\`\`\``),
  ]);
  expect(docs.git("log", "-1", "--format=%(trailers:key=Agent-Turn,valueonly)", branch)).toMatch(/^1\./);
});

test("a page that is moved to where nothing is allowed is not deleted", async () => {
  const { log, changes } = await run("mkdir archive; mv docs/a.md archive; echo x > docs/new.md; rm docs/sub/b.md");
  expect(changes, log).toEqual(["A\tdocs/new.md", "D\tdocs/sub/b.md"]);
  expect(log).toContain("Left out: the deletion of docs/a.md, because what may have replaced it is not published.");
});

test("a change of allowed files only is told nowhere", async () => {
  const { log, changes, bodies } = await run("echo new > docs/a.md");
  expect(changes).toEqual(["M\tdocs/a.md"]);
  expect(log + bodies.join("")).not.toMatch(/taken back/i);
});

test("a change without an allowed file fails the turn, and nothing is pushed", async () => {
  const { docs, job, log } = await run("echo x > src/code.js; echo x > 'a\nb'");
  expect(job).toMatchObject({ status: "failed", kept: "unfinished" });
  expect(log).toContain("The turn failed: the agent changed only files that --only does not allow: a\\nb, src/code.js");
  expect(docs.branches()).toEqual([]);
});

test("what an agent does to other files cannot fail its turn", async () => {
  const { log, changes } = await run(
    "echo new > docs/a.md; head -c 200000 /dev/zero > large; mkdir tool; git -C tool init -q; echo x > tool/file",
  );
  expect(changes, log).toEqual(["M\tdocs/a.md"]);
  expect(log).toContain("are taken back: large, tool/\n");
});

test("rules for Git that are taken back do not count for the other files", async () => {
  const { log, changes } = await run(
    "echo docs > .gitignore; echo '*.md working-tree-encoding=UTF-16' > .gitattributes; mkdir docs/build; echo x > docs/build/x; echo x > docs/new.md",
  );
  expect(changes, log).toEqual(["A\tdocs/new.md"]);
  expect(log).toContain("are taken back: .gitattributes, .gitignore\n");
});

test.each([
  ["a folder in place of a file", "rm README.md; mkdir README.md; echo x > README.md/x.md", ["**/*.md", "!README.md"]],
  ["a file in place of a folder", "rm -r docs; echo x > docs", ["docs", "docs/a.md"]],
  ["a link in place of a folder", "rm -r docs; ln -s src docs", ["docs", "docs/a.md"]],
])("%s is taken back if that is needed for other files", async (_, command, patterns) => {
  const { log, changes } = await run(`${command}; mkdir -p new; echo x > new/page.md`, [...patterns, "new/**"]);
  expect(changes, log).toEqual(["A\tnew/page.md"]);
});

test.each([
  [
    "a folder in place of a file",
    "rm README.md; mkdir README.md; echo x > README.md/x.md",
    ["D\tREADME.md", "A\tREADME.md/x.md"],
  ],
  [
    "a link in place of a folder",
    "rm -r docs; ln -s src docs",
    ["A\tdocs", "D\tdocs/a.md", "D\tdocs/old.md", "D\tdocs/sub/b.md"],
  ],
])("%s is committed if all of it is allowed", async (_, command, expected) => {
  expect((await run(`${command}; echo x > src/code.js`, ["**", "!src/**"])).changes).toEqual(expected);
});

test("names that are patterns of Git are names", async () => {
  const { changes } = await run(
    "mkdir -p 'docs/[ab]'; echo x > 'docs/[a-z].md'; echo x > 'docs/[ab]/c'; echo x > docs/old.md",
  );
  expect(changes).toEqual(["A\tdocs/[a-z].md", "A\tdocs/[ab]/c"]);
});

test("the agent is told which files it may change", async () => {
  const { docs, branch } = await run("cat > docs/a.md");
  expect(docs.read(branch, "docs/a.md")).toBe(
    "Go on\n\nChange only files that match these patterns, because changes of other files are taken back: docs/**, !docs/old.md",
  );
});

test.each([
  ["alone", "echo x > sk-secret-0123456789", "the agent changed only files that --only does not allow: "],
  [
    "alone, where that is cut off",
    `mkdir -p ${"a".repeat(240)}/${"b".repeat(240)} && echo x > ${"a".repeat(240)}/${"b".repeat(240)}/ccccc-sk-secret-0123456789`,
    "the agent changed only files that --only does not allow: ",
  ],
  [
    "besides an allowed one",
    "echo x > sk-secret-0123456789; echo x > docs/a.md",
    "the change has secrets of the service, so it is not pushed: KEY in the message of the commit",
  ],
])("a secret in the name of a file that is taken back %s is told nowhere", async (_, command, reason) => {
  const { docs, job, log } = await run(command, ["docs/**"], [{ name: "KEY", value: "sk-secret-0123456789" }]);
  expect(job.status).toBe("failed");
  expect(log).toContain(`The turn failed: ${reason}`);
  expect(log).not.toContain("sk-secret");
  expect(docs.branches()).toEqual([]);
});

test("a commit that was kept before only some files were allowed is not published with others", async () => {
  const docs = docsRepository(files);
  const setHook = (line: string) =>
    writeFileSync(join(docs.path, "hooks/pre-receive"), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  const options = { agent: shellAgent("echo x > src/code.js"), host, folder: folderWithClone(docs) };
  // The branch may be created, but nothing else be pushed to it.
  setHook(
    "read old new ref; [ $old = 0000000000000000000000000000000000000000 ] || [ $new = 0000000000000000000000000000000000000000 ]",
  );
  let id = "";
  {
    await using service = await startAgentService(docs, options);
    ({ id } = await runJob(service, "Go on"));
  }
  setHook("");
  await using service = await startAgentService(docs, { ...options, only: readPathPatterns(["docs/**"]) });
  await send(service, `docs/job/${id}/message`, "Go on");
  expect((await waitForJob(service, id)).status).toBe("failed");
  const log = readFileSync(join(service.folder, "logs", `${id}.log`), "utf8");
  expect(log).toContain("The turn failed: the change has files that --only does not allow: src/code.js");
});
