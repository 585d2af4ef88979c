import { describe, expect, test } from "vitest";
import { runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import { prLink, record, respondWith } from "../../../support/run-main.ts";

const respond = () => respondWith(201, record({ status: "completed", prLink }));

describe("the commenter's permission", () => {
  test.each([
    [{ permission: "write", role_name: "write" }, "write", true],
    [{ permission: "write", role_name: "maintain" }, "maintain", true],
    // Forgejo's, of whoever owns the repository.
    [{ permission: "owner", role_name: "owner" }, "admin", true],
    [{ permission: "read", role_name: "owner" }, "write", false],
    [{ permission: "write", role_name: "write" }, "maintain", false],
    [{ permission: "read", role_name: "triage" }, "triage", true],
    [{ permission: "read", role_name: "triage" }, "write", false],
    [{ permission: "read", role_name: "read" }, "write", false],
    [{ permission: "admin", role_name: "admin" }, "admin", true],
    [{ permission: "write", role_name: "docs-team" }, "write", true],
    [{ permission: "read", role_name: "docs-team" }, "write", false],
    [{ permission: "write" }, "write", true],
    [{ permission: "none", role_name: "none" }, "read", false],
  ])("%j with required-permission: %s is sufficient: %s", async (permission, required, isSufficient) => {
    const github = new FakeGitHub();
    github.permission = permission;
    const { outputs, requests, hasPassed } = await runComment(github, {
      inputs: { "required-permission": required },
      respond,
    });
    expect(outputs["skip-reason"]).toBe(isSufficient ? "" : "not-permitted");
    expect(requests.length > 0).toBe(isSufficient);
    expect(hasPassed).toBe(true);
    if (!isSufficient) expect(github.comments).toEqual([]);
  });

  test("is requested for the author of the comment", async () => {
    const github = new FakeGitHub();
    await runComment(github, { respond });
    expect(github.calls[0]?.parameters).toEqual({ owner: "acme", repo: "docs", username: "writer" });
  });

  test("is not taken from author_association", async () => {
    const github = new FakeGitHub();
    github.permission = { permission: "read", role_name: "read" };
    expect((await runComment(github, { respond })).outputs["skip-reason"]).toBe("not-permitted");
  });

  test.each([
    [{}],
    [null],
    ["write"],
    [{ permission: 7 }],
    [{ role_name: "docs-team" }],
    [{ permission: "superuser" }],
  ])("blocks the run if the response is %j", async (permission) => {
    const github = new FakeGitHub();
    github.permission = permission;
    const { outputs, requests, hasPassed, toolkit } = await runComment(github, { respond });
    expect(outputs.outcome).toBe("error");
    expect(hasPassed).toBe(false);
    expect(requests).toEqual([]);
    expect(github.comments).toEqual([]);
    expect(toolkit.annotations[0]?.text).toContain("nothing was started");
  });

  test("blocks the run if it cannot be read", async () => {
    const github = new FakeGitHub();
    github.fault = () => {
      throw new Error("Server Error");
    };
    const { outputs, requests, toolkit } = await runComment(github, { respond });
    expect(outputs.outcome).toBe("error");
    expect(requests).toEqual([]);
    expect(toolkit.annotations[0]?.text).toMatch(/cannot be read \(Server Error\), so nothing was started/);
  });
});

describe("a bot", () => {
  test.each([
    [{ login: "helper", type: "Bot" }, ""],
    [{ login: "x[bot]", type: "User" }, ""],
    [{ login: "x[bot]", type: "Bot" }, "y[bot], x"],
  ])("%j is skipped with allowed-bots: %j", async (author, allowed) => {
    const github = new FakeGitHub();
    const { outputs, requests } = await runComment(github, { author, inputs: { "allowed-bots": allowed }, respond });
    expect(outputs["skip-reason"]).toBe("bot");
    expect(requests).toEqual([]);
    expect(github.calls).toEqual([]);
  });

  test("may trigger if it is listed in allowed-bots, in any case, without a permission request", async () => {
    const github = new FakeGitHub();
    const run = await runComment(github, {
      author: { login: "Renovate[bot]", type: "Bot" },
      inputs: { "allowed-bots": "x[bot], renovate[BOT]" },
      respond,
    });
    expect(run.outputs.outcome).toBe("pr-created");
    expect(github.calls.filter(({ route }) => route.endsWith("/permission"))).toEqual([]);
  });
});
