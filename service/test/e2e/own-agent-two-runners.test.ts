import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { type RunAccess, startCacheService } from "../../../test/support/cache-service.ts";
import { commentEnvironment, commentInputs } from "../../../test/support/payload.ts";
import { temporaryFolder } from "../../../test/support/step.ts";
import { rows } from "../../../test/support/thorough.ts";
import { letBegunPass } from "../support/begun-refs.ts";
import { killAll } from "../support/kill-all.ts";
import { agentStep, setUpGitHub, unconfined } from "../support/workflow-job.ts";

/*
 * Runs that work at the same time, and runs whose runner is lost while its agent works, through the action as it is built.
 */

/** Sets up a repository, and runs on empty runners. The agent for a prompt with "slowly" works until it is released. */
async function setUp(access: RunAccess) {
  const { docs, github } = await setUpGitHub();
  const cache = await startCacheService("v1", { access });
  onTestFinished(() => cache[Symbol.asyncDispose]());
  const folder = temporaryFolder();
  const [ledger, gate] = [join(folder, "ledger"), join(folder, "gate")];
  const agent = [
    `text=$(cat); prompt=$(printf %s "$text" | grep -oiE '(slowly|write): [a-z]+' | head -n 1); word=\${prompt#*: }`,
    `echo "$word begins" >> ${ledger}`,
    `case $prompt in *slowly*) while [ ! -e ${gate} ]; do sleep 0.05; done ;; esac`,
    `echo text > "$word.md"; echo "$word ends" >> ${ledger}`,
  ].join("; ");
  const found = (): string[] => (existsSync(ledger) ? readFileSync(ledger, "utf8").trim().split("\n") : []);
  // What is published leaves only a record, if the cache cannot be written.
  const refs = (): string[] =>
    docs
      .git("for-each-ref", "--format=%(refname)", "refs/agent-work")
      .split("\n")
      .filter((name) => name !== "" && !name.endsWith("/pushed"));
  let child: ChildProcess | undefined;
  const onStart = (process: ChildProcess): void => {
    child ??= process;
  };
  const lose = (): void => {
    if (child?.pid !== undefined) killAll(child.pid);
  };
  // GitHub tells who created a branch.
  const tellCreators = (): void => {
    for (const branch of docs.branches()) github.creators.set(branch, "docs-bot");
  };
  const night = (id: string, prompt: string, inputs: Record<string, string> = {}, attempt = "1") => {
    tellCreators();
    return agentStep(
      github,
      { agent, "agent-options": unconfined, prompt, session: "nightly", ...inputs },
      {
        environment: {
          ...cache.environment,
          GITHUB_REPOSITORY_ID: "1",
          GITHUB_RUN_ID: id,
          GITHUB_RUN_ATTEMPT: attempt,
        },
        onStart,
      },
    );
  };
  const comment = async (text: string, attempt = "1", earlier?: number) => {
    tellCreators();
    const issues = (await github.call("GET", "/issues")) as { number: number }[];
    const { number } =
      issues[0] ?? ((await github.call("POST", "/issues", { title: "No quickstart" })) as { number: number });
    const posted = earlier ? { id: earlier } : await github.call("POST", `/issues/${number}/comments`, { body: text });
    const { id } = posted as { id: number };
    const { owner, repo, url } = github;
    const event = { id, text, author: { login: owner }, number, owner, repo };
    const inputs = { ...commentInputs, "project-id": "", "api-key": "", "base-url": "", agent };
    const ran = agentStep(
      github,
      { ...inputs, "github-token": github.token, "agent-options": unconfined },
      {
        environment: {
          ...cache.environment,
          ...commentEnvironment(temporaryFolder(), url, event),
          GITHUB_SERVER_URL: url,
          GITHUB_RUN_ID: String(id),
          GITHUB_RUN_ATTEMPT: attempt,
        },
        onStart,
      },
    );
    return { id, ran };
  };
  const untilBegun = (word: string) =>
    vi.waitFor(() => expect(found()).toContain(`${word} begins`), { timeout: 20_000, interval: 100 });
  const release = (): void => writeFileSync(gate, "");
  return { docs, github, night, comment, found, refs, lose, release, untilBegun };
}

const accesses: [string, RunAccess][] = [
  ["can be read", "read"],
  ["can be written", "write"],
  ["cannot be used", "none"],
];

test.each(rows(accesses, 1))(
  "a session's run waits for one that works, then continues its job, with a cache that %s",
  async (_which, access) => {
    const { github, night, found, refs, release, untilBegun } = await setUp(access);
    const first = night("1", "Write slowly: first");
    await untilBegun("first");
    expect(refs()).toEqual([expect.stringMatching(/\/begun$/)]);
    // It asks before the third one gives up, also on a busy machine.
    const second = night("2", "Write: other");
    const early = night("3", "Write: early", { "timeout-minutes": "0.2" });
    const { outputs, annotations, log: early_log } = await early;
    expect(outputs, early_log).toMatchObject({ outcome: "timed-out", "job-id": "" });
    expect(annotations).toContainEqual(expect.stringMatching(/^error Another run works for the session: /));
    release();
    const [one, two] = await Promise.all([first, second]);
    expect(one.outputs, one.log).toMatchObject({ outcome: "pr-created" });
    const { "job-id": id, "pr-link": link } = one.outputs;
    expect(two.log).toContain(`Session nightly: another run works on job ${id}, until `);
    expect(two.outputs, two.log).toMatchObject({ outcome: "pr-created", "job-id": id, "pr-link": link });
    expect(found()).toEqual(["first begins", "first ends", "other begins", "other ends"]);
    expect(await github.call("GET", "/pulls?state=all")).toHaveLength(1);
    expect(refs()).toEqual([]);
  },
  90_000,
);

test.each(rows(accesses, 1))(
  "of two runs of a session that begin at once, one waits for the other, with a cache that %s",
  async (_which, access) => {
    const { github, night, found, refs } = await setUp(access);
    const [one, two] = await Promise.all([night("1", "Write: first"), night("2", "Write: other")]);
    for (const { outputs, log } of [one, two]) expect(outputs, log).toMatchObject({ outcome: "pr-created" });
    expect(two.outputs["job-id"]).toBe(one.outputs["job-id"]);
    const [first] = found()[0]?.split(" ") ?? [];
    const last = first === "first" ? "other" : "first";
    expect(found()).toEqual([first, last].flatMap((word) => [`${word} begins`, `${word} ends`]));
    expect(await github.call("GET", "/pulls?state=all")).toHaveLength(1);
    expect(refs()).toEqual([]);
  },
  90_000,
);

test.each(rows(accesses, 1))(
  "a comment while another one is worked on begins beside it, in its job, with a cache that %s",
  async (_which, access) => {
    const { docs, github, comment, refs, release, untilBegun } = await setUp(access);
    const first = await comment("/agent slowly: first");
    await untilBegun("first");
    const second = await (await comment("/agent write: other")).ran;
    release();
    const one = await first.ran;
    expect(one.outputs, one.log).toMatchObject({ outcome: "pr-created" });
    const { "job-id": id, "pr-link": link, ref = "" } = one.outputs;
    expect(second.outputs, second.log).toMatchObject({ outcome: "pr-created", "job-id": id, "pr-link": link });
    expect(docs.branches()).toEqual([ref]);
    for (const file of ["first.md", "other.md"]) expect(docs.read(ref, file)).toBe("text");
    const pulls = (await github.call("GET", "/pulls?state=all")) as { body: string }[];
    expect(pulls).toHaveLength(1);
    for (const word of ["first", "other"]) expect(pulls[0]?.body).toContain(word);
    expect(refs()).toEqual([]);
  },
  60_000,
);

const takers = [
  ["rewritten the branch", false],
  ["merged the pull request with a title of their own, and deleted the branch", true],
] as const;
test.each(
  rows(
    accesses.flatMap((access) => takers.map((taker) => [...access, ...taker] as const)),
    2,
  ),
)(
  "with a cache that %s (%s), a re-run knows the job, and runs no agent, after a person has %s",
  async (_which, _access, _what, isMerged) => {
    const { docs, github, night, found } = await setUp(_access);
    const first = await night("1", "Write: first");
    expect(first.outputs, first.log).toMatchObject({ outcome: "pr-created" });
    const { "job-id": id, "pr-link": link, ref = "" } = first.outputs;
    const theirs = docs.git("commit-tree", `${ref}^{tree}`, "-p", "main", "-m", "A title of their own");
    docs.setHead(isMerged ? "main" : ref, theirs);
    if (isMerged) {
      await github.call("PUT", "/pulls/1/merge", {});
      docs.deleteBranch(ref);
    }
    const again = await night("1", "Write: first", {}, "2");
    expect(again.outputs, again.log).toMatchObject({ outcome: "pr-created", "job-id": id, "pr-link": link });
    const next = await night("2", "Write: next");
    expect(next.outputs, next.log).toMatchObject({ outcome: "pr-created" });
    expect(next.outputs["job-id"] === id).toBe(!isMerged);
    expect(found()).toEqual(["first begins", "first ends", "next begins", "next ends"]);
  },
  60_000,
);

test.each(rows(accesses, 1))(
  "a thread whose first runner is lost keeps its job, for a comment and for a re-run, with a cache that %s",
  async (_which, access) => {
    const { docs, github, comment, found, refs, lose, release, untilBegun } = await setUp(access);
    const first = await comment("/agent slowly: first");
    await untilBegun("first");
    const [begun = ""] = refs();
    const [, id] = /agent-work\/(job_[0-9a-f-]+)/.exec(begun) ?? [];
    lose();
    await first.ran;
    release();
    const second = await (await comment("/agent write: other")).ran;
    expect(second.outputs, second.log).toMatchObject({ outcome: "pr-created", "job-id": id });
    const again = await (await comment("/agent slowly: first", "2", first.id)).ran;
    expect(again.outputs, again.log).toMatchObject({ outcome: "pr-created", "job-id": id });
    expect(found()).toEqual(["first begins", "other begins", "other ends", "first begins", "first ends"]);
    for (const file of ["first.md", "other.md"]) expect(docs.read(again.outputs.ref ?? "", file)).toBe("text");
    expect(await github.call("GET", "/pulls?state=all")).toHaveLength(1);
    expect(refs()).toEqual([]);
  },
  60_000,
);

test.each(rows(accesses, 1))(
  "a night whose runner is lost is over when its time is, or its own step asks again, with a cache that %s",
  async (_which, access) => {
    const { docs, night, found, refs, lose, release, untilBegun } = await setUp(access);
    const first = night("1", "Write slowly: first");
    await untilBegun("first");
    lose();
    await first;
    release();
    letBegunPass(docs);
    const second = await night("2", "Write: other");
    expect(second.outputs, second.log).toMatchObject({ outcome: "pr-created" });
    const again = await night("1", "Write slowly: first", {}, "2");
    expect(again.outputs.outcome, again.log).toBe("pr-created");
    expect(found()).toEqual(["first begins", "other begins", "other ends", "first begins", "first ends"]);
    expect(refs()).toEqual([]);
  },
  60_000,
);
