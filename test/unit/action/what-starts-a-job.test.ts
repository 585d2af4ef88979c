import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mergeMessage, turnTrailers } from "../../../service/src/pulls/turn-trailers.ts";
import type { GitHub } from "../../../src/action/runner/github.ts";
import { GitHubError } from "../../../src/action/runner/github-error.ts";
import { FakeGitHub } from "../../support/fake-github.ts";
import { example } from "../../support/payload.ts";
import { type MainOptions, type MainRun, runMain } from "../../support/run-main.ts";
import { temporaryFolder } from "../../support/step.ts";
import { completes } from "../../support/thread.ts";
import { promptsOf } from "../../support/thread-event-run.ts";

const examples = createRequire(import.meta.url)("@octokit/webhooks-examples") as {
  name: string;
  examples: Record<string, unknown>[];
}[];

interface EventOptions extends Partial<MainOptions> {
  /** By default, that of anybody without a say in the repository. */
  github?: GitHub;
}

/** Runs the action on an event, with a prompt of the workflow. */
async function runOn(name: string, payload: unknown, { inputs, environment, ...options }: EventOptions = {}) {
  const file = join(temporaryFolder(), "event.json");
  writeFileSync(file, JSON.stringify(payload));
  return runMain({
    respond: completes,
    github: new FakeGitHub(),
    ...options,
    inputs: { "github-token": "ghs_token_0123456789", ...inputs },
    environment: {
      GITHUB_EVENT_NAME: name,
      GITHUB_EVENT_PATH: file,
      GITHUB_SERVER_URL: "https://github.com",
      GITHUB_REPOSITORY: "acme/docs",
      GITHUB_RUN_ID: "99",
      ...environment,
    },
  });
}

/** Says what a run did: `starts`, or why it started nothing. */
const effectOf = (run: MainRun): string =>
  promptsOf(run).length > 0 ? "starts" : (run.outputs["skip-reason"] ?? "") || (run.outputs.outcome ?? "");

/** Payloads of events that the examples lack. */
const others: Record<string, Record<string, unknown>[]> = {
  schedule: [{ schedule: "17 3 * * 1", repository: { name: "docs" } }],
  image_version: [{ image_version: { name: "1.0.0" } }],
  registry_package: [{ action: "published", registry_package: { name: "docs" } }],
  sub_issues: [{ action: "sub_issue_added", parent_issue: { number: 1 }, sub_issue: { number: 2 } }],
  pull_request_comment: [{ action: "created", pull_request: { number: 1 } }],
  "an event of next year": [{ action: "created", issue_suggestion: { body: "/agent x" }, issue: { number: 1 } }],
};

function payloadsOf(name: string): Record<string, unknown>[] {
  const found = examples.find((one) => one.name === name.replace("_target", ""))?.examples ?? others[name] ?? [];
  // One of each action: the others differ in who, and in what repository.
  return [...new Map(found.map((payload) => [payload.action, payload])).values()];
}

// Each in GitHub's documentation, "Events that trigger workflows", and a few that trigger none yet.
describe("what a text without the phrase, and without the label, starts", () => {
  const prompt = ["starts", "starts", "starts"];
  const thread = ["no-trigger", "no-trigger", "starts"];
  const closed = ["no-trigger", "no-trigger", "starts"];

  test.each<[name: string, effects: string[]]>([
    ["branch_protection_rule", prompt],
    ["check_run", prompt],
    ["check_suite", prompt],
    ["create", prompt],
    ["delete", prompt],
    ["deployment", prompt],
    ["deployment_status", prompt],
    ["fork", prompt],
    ["gollum", prompt],
    ["image_version", prompt],
    ["label", prompt],
    ["merge_group", prompt],
    ["milestone", prompt],
    ["page_build", prompt],
    ["public", prompt],
    ["push", prompt],
    ["registry_package", prompt],
    ["release", prompt],
    ["repository_dispatch", prompt],
    ["schedule", prompt],
    ["status", prompt],
    ["watch", prompt],
    ["workflow_dispatch", prompt],
    ["workflow_run", prompt],
    ["issues", thread],
    ["issue_comment", thread],
    ["pull_request", thread],
    ["pull_request_review", thread],
    ["pull_request_review_comment", thread],
    ["pull_request_target", thread],
    ["commit_comment", closed],
    ["discussion", closed],
    ["discussion_comment", closed],
    ["pull_request_comment", closed],
    ["pull_request_review_thread", closed],
    ["sub_issues", closed],
    ["an event of next year", closed],
  ])("%s: with trigger-phrase, with trigger-label, with neither: %j", async (name, effects) => {
    const payloads = payloadsOf(name);
    expect(payloads).not.toEqual([]);
    for (const payload of payloads) {
      const runs = [{ "trigger-phrase": "/agent" }, { "trigger-label": "docs, please" }, {}];
      const seen = await Promise.all(runs.map((inputs) => runOn(name, payload, { inputs })));
      // An edited text is told apart from others.
      const reasons = seen.map(effectOf).map((effect) => (effect === "edited" ? "no-trigger" : effect));
      expect(reasons, String(payload.action)).toEqual(effects);
    }
  });

  test("an event that is closed has a notice that says how to open it", async () => {
    const payload = example("discussion", "created");
    const { toolkit, hasPassed } = await runOn("discussion", payload, { inputs: { "trigger-phrase": "/agent" } });
    expect(hasPassed).toBe(true);
    expect(toolkit.annotations).toEqual([
      {
        level: "notice",
        title: "Skipped",
        text: "By the event discussion, nobody can ask with this step's trigger-phrase or trigger-label. Nothing was started.\nTo start a job on each such event, use a step for it without trigger-phrase, trigger-label and {{ instruction }}.",
      },
    ]);
  });

  test("a payload that cannot be read starts nothing", async () => {
    const run = await runOn(
      "schedule",
      {},
      {
        inputs: { "trigger-phrase": "/agent" },
        environment: { GITHUB_EVENT_PATH: "/missing" },
      },
    );
    expect([run.outputs.outcome, promptsOf(run)]).toEqual(["error", []]);
  });
});

describe("a prompt with {{ instruction }}", () => {
  const prompt = "Do what is asked: {{ instruction }}";

  test.each(["schedule", "workflow_dispatch", "push"])("is skipped on %s, which brings none", async (name) => {
    for (const trigger of ["trigger-phrase", "trigger-label"]) {
      const run = await runOn(name, payloadsOf(name)[0], { inputs: { prompt, [trigger]: "/agent" } });
      expect(effectOf(run)).toBe("no-trigger");
    }
  });

  test.each(["schedule", "issue_comment", "discussion"])("needs a phrase or a label (%s)", async (name) => {
    const { outputs, toolkit, requests } = await runOn(name, payloadsOf(name)[0], { inputs: { prompt } });
    expect([outputs.outcome, requests]).toEqual(["error", []]);
    expect(toolkit.annotations[0]?.text).toContain(
      "prompt uses {{ instruction }}, but without trigger-phrase and trigger-label nothing takes its place. Set one of them.",
    );
  });
});

describe("an agent's own commit", () => {
  const trailers = turnTrailers({ id: 3, identity: "0".repeat(32), job: `job_${"0".repeat(8)}-1-1-1-1` }).join("\n");
  const ofTurn = `Fix the links\n\n${trailers}`;
  const branch = "agent/job_00000000-0000-4000-8000-000000000001";
  const person = { login: "writer", type: "User" };
  const app = { login: "docs-app[bot]", type: "Bot" };
  const head = (message: string) => ({ head_branch: branch, head_sha: "c0ffee", head_commit: { message } });
  const pull = { number: 7, title: "Docs", body: "", html_url: "https://github.com/a/b/pull/7", user: person };
  const pullRequest = { ...pull, head: { ref: branch, sha: "c0ffee" } };
  const repository = { name: "docs", owner: { login: "acme" } };

  /** The payloads, for a message that they or GitHub tell. */
  const payloads: Record<string, (message: string) => Record<string, unknown>> = {
    push: (message) => ({ ref: "refs/heads/main", after: "c0ffee", head_commit: { message } }),
    create: () => ({ ref: branch, ref_type: "branch" }),
    workflow_run: (message) => ({ action: "completed", workflow_run: head(message) }),
    check_suite: (message) => ({ action: "completed", check_suite: head(message) }),
    check_run: () => ({
      action: "completed",
      check_run: { head_sha: "c0ffee", check_suite: { head_branch: branch } },
    }),
    status: (message) => ({ sha: "c0ffee", commit: { commit: { message } } }),
    deployment_status: () => ({ action: "created", deployment: { ref: branch, sha: "c0ffee" } }),
    "pull_request opened": () => ({ action: "opened", pull_request: pullRequest }),
    "pull_request synchronize": () => ({ action: "synchronize", pull_request: pullRequest }),
    "pull_request_target synchronize": () => ({ action: "synchronize", pull_request: pullRequest }),
    "pull_request labeled": () => ({ action: "labeled", pull_request: pullRequest, label: { name: "docs" } }),
    "pull_request ready_for_review": () => ({ action: "ready_for_review", pull_request: pullRequest }),
    workflow_dispatch: () => ({ inputs: {} }),
    schedule: () => ({ schedule: "17 3 * * 1" }),
    repository_dispatch: () => ({ action: "docs", client_payload: {} }),
  };

  function onCommit(event: string, message: string, sender: object, options: EventOptions = {}) {
    const shown = new FakeGitHub();
    shown.repository = {
      request: async (route) => {
        if (route.endsWith("commits/{ref}")) return { commit: { message } };
        return route.endsWith("pulls/{pull_number}") ? pullRequest : [];
      },
      paginate: async () => [],
    };
    const [name = ""] = event.split(" ");
    const payload = { ...payloads[event]?.(message), repository, sender };
    return runOn(name, payload, { github: shown, ...options });
  }

  test.each<[event: string, byPerson: string, byApp: string]>([
    ["push", "own-change", "own-change"],
    ["create", "own-change", "own-change"],
    ["workflow_run", "own-change", "own-change"],
    ["check_suite", "own-change", "own-change"],
    ["check_run", "own-change", "own-change"],
    ["status", "own-change", "own-change"],
    ["pull_request opened", "own-change", "own-change"],
    ["pull_request synchronize", "own-change", "own-change"],
    ["pull_request_target synchronize", "own-change", "own-change"],
    ["pull_request labeled", "starts", "own-change"],
    ["pull_request ready_for_review", "starts", "own-change"],
    ["deployment_status", "starts", "own-change"],
    ["workflow_dispatch", "starts", "starts"],
    ["repository_dispatch", "starts", "starts"],
    ["schedule", "starts", "starts"],
  ])("%s by a person: %s, by an App: %s", async (event, byPerson, byApp) => {
    const effects = [person, app].map(async (sender) => effectOf(await onCommit(event, ofTurn, sender)));
    expect(await Promise.all(effects)).toEqual([byPerson, byApp]);
    if (event === "create") return;
    // A commit of a person on the same branch starts a job, whoever pushed it.
    for (const sender of [person, app])
      expect(effectOf(await onCommit(event, "Fix the links by hand", sender))).toBe("starts");
  });

  test("is not on a job's new branch yet, which starts nothing either", async () => {
    payloads["push of a branch"] = (message) => ({
      ref: `refs/heads/${branch}`,
      created: true,
      head_commit: { message },
    });
    const environment = { GITHUB_SHA: "c0ffee" };
    for (const event of ["push of a branch", "create", "workflow_run", "check_suite", "check_run"])
      for (const sender of [person, app])
        expect(effectOf(await onCommit(event, "Add a page", sender, { environment })), event).toBe("own-change");
    // What is on the default branch, too, has checks of its own.
    expect(effectOf(await onCommit("status", "Add a page", person, { environment }))).toBe("starts");
    payloads["push of a branch"] = () => ({ ref: "refs/heads/topic", created: true, head_commit: { message: "Add" } });
    expect(effectOf(await onCommit("push of a branch", "", person))).toBe("starts");
  });

  test("is told apart from a commit that only names such lines", async () => {
    const quoted = `Fix the links\n\n    ${trailers.replace("\n", "\n    ")}`;
    expect(effectOf(await onCommit("push", quoted, person))).toBe("starts");
    expect(effectOf(await onCommit("push", `${ofTurn}\nCo-authored-by: A <a@b.c>`, person))).toBe("own-change");
    // As GitHub's page writes the message of a squash.
    expect(effectOf(await onCommit("push", ofTurn.replaceAll("\n", "\r\n"), person))).toBe("own-change");
    const merge = mergeMessage("main", branch, `job_${"0".repeat(8)}-1-1-1-1`);
    expect(effectOf(await onCommit("pull_request synchronize", merge, app))).toBe("own-change");
  });

  describe("in a push to another branch", () => {
    const feature = "feat: new API (#8)";
    const merge = `Merge pull request #9 from acme/${branch}\n\nFix the links`;
    const pushes: [what: string, effect: string, commits: string[]][] = [
      ["an agent's squash on top of a person's", "starts", [feature, ofTurn]],
      ["a person's squash on top of an agent's", "starts", [ofTurn, feature]],
      ["several squashes of agents", "own-change", [ofTurn, ofTurn]],
      ["a merge of an agent's commits", "own-change", [ofTurn, `Merge branch 'main' into ${branch}`, merge]],
      ["a merge of what both did", "starts", [ofTurn, "Fix it by hand", merge]],
      ["a merge alone", "starts", ["Merge pull request #8 from acme/topic"]],
      ["a merge by its title only", "starts", [ofTurn, "Merge the two APIs (#8)"]],
      ["a squash that lists both", "starts", [`Add it (#7)\n\n* Add it\n\n* ${ofTurn}\n\n* Fix review`]],
      ["a squash that lists an agent's last", "starts", [`Add it (#7)\n\n* Add it\n\n* ${ofTurn}`]],
      ["a squash that lists an agent's only", "own-change", [`Fix (#9)\n\n* ${ofTurn}\n\n* ${ofTurn}`]],
      [
        "a squash that lists a merge, too, and its authors",
        "own-change",
        [
          `Fix (#9)\n\n* ${ofTurn}\n\n* Merge branch 'main' into ${branch}\n\n* ${ofTurn}\n\n---------\n\nCo-authored-by: A <a@b.c>`,
        ],
      ],
      ["an agent's squash with its authors", "own-change", [`${ofTurn}\n\nCo-authored-by: A <a@b.c>`]],
      ["text below such lines", "starts", [`${ofTurn}\n\nThat is why.`]],
    ];
    test.each(pushes)("%s: %s", async (_what, effect, commits) => {
      payloads["push of several"] = () => ({
        ref: "refs/heads/main",
        head_commit: { message: commits.at(-1) },
        commits: commits.map((message) => ({ message })),
      });
      for (const sender of [person, app]) expect(effectOf(await onCommit("push of several", "", sender))).toBe(effect);
    });

    test("on the job's own branch, the newest commit counts: it may have merged what others did", async () => {
      payloads["push of several"] = (message) => ({
        ref: `refs/heads/${branch}`,
        head_commit: { message },
        commits: [{ message: feature }, { message }],
      });
      expect(effectOf(await onCommit("push of several", ofTurn, app))).toBe("own-change");
    });

    test("a person's new tag or branch on it starts a job", async () => {
      for (const made of [{ ref: "refs/tags/v1.2.0" }, { ref: "refs/heads/release", created: true }]) {
        payloads["push of a name"] = (message) => ({ ...made, head_commit: { message }, commits: [] });
        expect(effectOf(await onCommit("push of a name", ofTurn, person))).toBe("starts");
        expect(effectOf(await onCommit("push of a name", ofTurn, app))).toBe("own-change");
      }
    });
  });

  test("is not what comes from a fork, whatever that is named", async () => {
    const fork = { head: { ...pullRequest.head, repo: { id: 2 } }, base: { repo: { id: 1 } } };
    payloads["pull_request of a fork"] = () => ({ action: "opened", pull_request: { ...pullRequest, ...fork } });
    payloads["workflow_run of a fork"] = (message) => ({
      action: "completed",
      workflow_run: { ...head(message), head_repository: { id: 2 }, repository: { id: 1 } },
    });
    for (const event of ["pull_request of a fork", "workflow_run of a fork"])
      expect(effectOf(await onCommit(event, ofTurn, person)), event).toBe("starts");
  });

  test.each([
    ["a fork's", [{ head: { repo: { id: 2 } }, base: { repo: { id: 1 } } }], "starts"],
    ["of a fork that is gone", [{ head: { repo: null }, base: { repo: { id: 1 } } }], "starts"],
    ["of a branch", [{ head: { repo: { id: 1 } }, base: { repo: { id: 1 } } }], "own-change"],
    ["hidden", new GitHubError("Forbidden", 403), "own-change"],
    ["not told", new GitHubError("Bad gateway", 502), "own-change"],
  ])("is asked for its pull request, which is %s", async (_what, shown, effect) => {
    const github = new FakeGitHub();
    github.repository = {
      request: async () => {
        if (shown instanceof GitHubError) throw shown;
        return shown;
      },
      paginate: async () => [],
    };
    const payload = { ...payloads.push?.(ofTurn), repository, sender: person };
    const environment = { GITHUB_SHA: "c0ffee" };
    expect(effectOf(await runOn("push", payload, { github, environment }))).toBe(effect);
    expect(github.calls.map(({ parameters }) => parameters.ref)).toEqual(["c0ffee"]);
  });

  test("is not looked for on other branches", async () => {
    const github = new FakeGitHub();
    const payload = { action: "synchronize", pull_request: { ...pullRequest, head: { ref: "topic", sha: "c0ffee" } } };
    expect(effectOf(await runOn("pull_request", { ...payload, repository, sender: app }, { github }))).toBe("starts");
    expect(github.calls).toEqual([]);
  });

  test("in comment mode, lets people ask, and no bot, even one that is listed", async () => {
    const inputs = { "trigger-label": "docs", "trigger-phrase": "/agent", "allowed-bots": "docs-app[bot]", prompt: "" };
    expect(effectOf(await onCommit("pull_request labeled", ofTurn, person, { inputs }))).toBe("starts");
    expect(effectOf(await onCommit("pull_request labeled", ofTurn, app, { inputs }))).toBe("own-change");
    const comment = (user: object) => ({ id: 1, body: "/agent fix it", user });
    payloads.issue_comment = () => ({ action: "created", issue: { ...pull, pull_request: {} }, comment: comment(app) });
    expect(effectOf(await onCommit("issue_comment", ofTurn, app, { inputs }))).toBe("own-change");
    payloads.issue_comment = () => ({
      action: "created",
      issue: { ...pull, pull_request: {} },
      comment: comment(person),
    });
    expect(effectOf(await onCommit("issue_comment", ofTurn, person, { inputs }))).toBe("starts");
  });

  test("does not keep a step from waiting for a job", async () => {
    const run = await onCommit("push", ofTurn, app, { inputs: { prompt: "", "job-id": "job_1" } });
    expect(run.outputs.outcome).toBe("pr-created");
  });

  test("that cannot be read is an error, and nothing is started", async () => {
    const github = new FakeGitHub();
    github.fault = () => {
      throw new GitHubError("Resource not accessible by integration", 403);
    };
    const { outputs, toolkit, requests } = await onCommit("pull_request opened", ofTurn, app, { github });
    expect([outputs.outcome, requests]).toEqual(["error", []]);
    expect(toolkit.annotations[0]?.text).toContain(
      `The newest commit of ${branch} cannot be read (Resource not accessible by integration). If an agent made it, it must not start another one, so nothing was started.`,
    );
  });
});
