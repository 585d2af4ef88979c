import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import type { DocsRepository } from "../../../../tools/docs-repository.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import {
  type AgentService,
  type AgentServiceOptions,
  docsRepository,
  readPage,
  runJob,
  startAgentService,
} from "../../support/agent-service.ts";
import { unsupervisedHost as host } from "../../support/unsupervised-host.ts";

let docs: DocsRepository;
let services: AgentService[];

beforeEach(() => {
  docs = docsRepository({ "README.md": "hello\n", "package.json": '{"name":"x"}\n' });
  services = [];
});

afterEach(async () => {
  for (const service of services) await service[Symbol.asyncDispose]();
});

/** Runs a job with a shell command as the agent. */
async function run(command: string, options: AgentServiceOptions = {}) {
  const service = await startAgentService(docs, { agent: shellAgent(command), host, ...options });
  services.push(service);
  const job = await runJob(service, "Go on");
  return { job, service, log: readFileSync(join(service.folder, "logs", `${job.id}.log`), "utf8") };
}

describe("a change of files that run code or instruct agents", () => {
  const change =
    "mkdir -p .github/workflows && echo x > .github/workflows/ci.yml && echo x > AGENTS.md && echo x > page.md &&" +
    ` echo '{"scripts":{"postinstall":"x"}}' > package.json`;
  const names = ".github/workflows/ci.yml, AGENTS.md, package.json (programs or addresses)";

  test("is named in the log and first on the page", async () => {
    const { job, service, log } = await run(change);
    expect(job.status, log).toBe("completed");
    expect(log).toContain(
      `The change has files that run code, instruct agents or should have passed a Git filter. Review them first: ${names}\n`,
    );
    const page = await readPage(service, job.prLink ?? null);
    expect(page).toMatch(/Review them first[\s\S]*<code>\.github\/workflows\/ci\.yml<\/code>[\s\S]*4 files changed/);
  });

  test("is not pushed if it is refused", async () => {
    const { job, log } = await run(change, { protectedFiles: "refuse" });
    expect(job).toMatchObject({ status: "failed", prLink: null });
    expect(log).toContain(
      `The turn failed: the change has files that --protected-files refuse does not allow, which lets through only texts, pictures and what --only names: ${names}. What its agent changed is kept`,
    );
    expect(docs.branches()).toEqual([]);
  });
});

test.each([
  ["macros", "failed"],
  ["search", "completed"],
])("a page is judged by what builds it: with the plugin %s, it %s", async (plugin, status) => {
  docs = docsRepository({ "README.md": "hello\n", "site/mkdocs.yml": `plugins: [${plugin}]\n` });
  const { job, log } = await run("echo '{{ env }}' > page.md", { protectedFiles: "refuse" });
  expect(job.status, log).toBe(status);
});

describe("a change of files that should have passed a filter of Git", () => {
  const pointer = "version https://git-lfs.github.com/spec/v1\\noid sha256:abc\\nsize 3\\n";
  const change = `printf 'png' > img/new.png && printf 'text' > img/old.png && printf '${pointer}' > img/pointer.png && printf x > key.secret && printf x > page.md`;

  test.each([
    [
      "of the project",
      { "img/.gitattributes": "*.png filter=lfs -text\n", ".gitattributes": "*.secret filter=git-crypt\n" },
    ],
    ["by a macro", { ".gitattributes": "[attr]big filter=lfs -text\n*.png big\n*.secret filter=git-crypt\n" }],
  ])("is named in the log and first on the page, and pushed: attributes %s", async (_, attributes) => {
    docs = docsRepository({ "img/old.png": pointer.replaceAll("\\n", "\n"), ...attributes });
    const { job, service, log } = await run(change);
    expect(job.status, log).toBe("completed");
    const names =
      "img/new.png (not passed through lfs), img/old.png (not passed through lfs), key.secret (not passed through git-crypt)";
    expect(log).toContain(`should have passed a Git filter. Review them first: ${names}\n`);
    expect(await readPage(service, job.prLink ?? null)).toMatch(
      /Review them first[\s\S]*<code>img\/new\.png \(not passed/,
    );
  });

  test("names none if the attributes name no filter for it", async () => {
    docs = docsRepository({ ".gitattributes": "*.zip filter=lfs\n*.png -filter\n*.md filter\n" });
    expect((await run("printf x > a.png && printf x > b.md")).log).not.toContain("Review them first");
  });
});

describe("a secret of the service", () => {
  const secrets = [{ name: "MODEL_KEY", value: "sk-secret-0123456789" }];

  test.each([
    ["in a file", "printf 'one\\nsk-secret-0123456789\\n' > a.txt", "MODEL_KEY in a.txt, line 2"],
    [
      "in a commit's message",
      "echo x > a.txt; git add -A; git commit -qm 'Use sk-secret-0123456789'",
      "MODEL_KEY in the message of the commit",
    ],
  ])("%s stops the push, and only the place is named", async (_name, command, place) => {
    const { job, log, service } = await run(command, { secrets });
    expect(job).toMatchObject({ status: "failed", prLink: null });
    expect(log).toContain(`The turn failed: the change has secrets of the service, so it is not pushed: ${place}`);
    expect(log + service.lines.join("\n")).not.toContain("sk-secret");
    expect(docs.branches()).toEqual([]);
  });

  test("is nowhere in the job's log, whose other lines stay, nor in the reason of a turn that failed", async () => {
    const key = [
      "-----BEGIN KEY-----",
      "MIIEvQIBADANBgkqhkiG9w0BAQ",
      "EFAASCBKcwggSjAgEAAoIBAQC7",
      "-----END KEY-----",
    ];
    const command = `echo before; printf '%s\\n' ${key.map((line) => `'${line}'`).join(" ")}; echo ${key.join("").slice(19)}; echo after; exit 3`;
    const { job, log } = await run(command, { secrets: [{ name: "KEY", value: `${key.join("\n")}\n` }] });
    expect(job.status).toBe("failed");
    expect(log).toMatch(/\| before\n\| -+\*+\n\| \*{26}\n\| \*{26}\n\| \*+-+\n\| \*{52}-+END KEY-+\n\| after\n/);
    expect(log).not.toMatch(/MIIE|EFAA/);
    expect(log).toContain("exit code 3");
  });

  test("does if it is the key of the API, which need not be named", async () => {
    const { job, log } = await run(`echo ${serviceKey} > a.txt`);
    expect(job.status).toBe("failed");
    expect(log).toContain("the API key in a.txt, line 1");
  });
});
