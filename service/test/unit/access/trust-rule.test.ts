import { describe, expect, test } from "vitest";
import { parseIssuer, parseTrustRule, rulesFor, type WorkflowClaims } from "../../../src/access/trust-rule.ts";

test.each([
  ["acme/docs", { project: undefined, repository: "acme/docs", ref: undefined, environment: undefined }],
  ["acme/docs.github.io", { repository: "acme/docs.github.io" }],
  ["acme/docs:refs/heads/main", { ref: "refs/heads/main", environment: undefined }],
  ["acme/docs:refs/heads/a=b/c", { project: undefined, repository: "acme/docs", ref: "refs/heads/a=b/c" }],
  ["acme/docs:refs/tags/v*", { ref: "refs/tags/v*" }],
  ["acme/docs:environment:production", { ref: undefined, environment: "production" }],
  ["acme/docs:environment:EU: west 1", { environment: "EU: west 1" }],
  ["docs=acme/docs", { project: "docs", repository: "acme/docs", ref: undefined }],
  [
    "acme@12/docs@345:refs/heads/main",
    { repository: "acme/docs", ownerId: "12", repositoryId: "345", ref: "refs/heads/main" },
  ],
  ["acme/docs@345", { repository: "acme/docs", ownerId: undefined, repositoryId: "345" }],
  ["docs=acme@12/docs", { project: "docs", repository: "acme/docs", ownerId: "12", repositoryId: undefined }],
  ["a/b=acme/docs:refs/heads/x=y/z", { project: "a/b", repository: "acme/docs", ref: "refs/heads/x=y/z" }],
])("parses %s", (text, rule) => {
  expect(parseTrustRule(text)).toMatchObject({ text, ...rule });
});

test.each([
  "",
  "acme",
  "acme/",
  "/docs",
  "acme/docs/main",
  "acme/docs@",
  "acme/docs@x",
  "acme@1/@2",
  "https://github.com/acme/docs",
  "acme/*",
  "*/docs",
  "acme/docs:",
  "acme/docs:main",
  "acme/docs:refs/",
  "acme/docs:refs/heads/*/x",
  "acme/docs:refs/heads/a b",
  "acme/docs:environment:",
  "acme/docs:an environment:x",
  `acme/docs:environment:${"x".repeat(256)}`,
  "acme/docs:xrefs/heads/main",
  "=acme/docs",
])("rejects %j", (text) => {
  expect(() => parseTrustRule(text)).toThrow(`${text} is not a repository to trust, such as acme/docs, `);
});

test.each([
  ["https://token.actions.githubusercontent.com", "https://token.actions.githubusercontent.com"],
  ["https://token.actions.githubusercontent.com/acme", "https://token.actions.githubusercontent.com/acme"],
  ["https://github.example.com/_services/token/", "https://github.example.com/_services/token"],
  ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
])("accepts the issuer %s", (text, issuer) => {
  expect(parseIssuer(text)).toBe(issuer);
});

test.each(["", "token.actions.githubusercontent.com", "http://github.example.com", "https://a:b@c.d", "https://a.b?c"])(
  "rejects the issuer %j",
  (text) => {
    expect(() => parseIssuer(text)).toThrow("--trust-issuer must be an https URL, such as https://token.actions.");
  },
);

describe("trusts a run", () => {
  const push: WorkflowClaims = { repository: "acme/docs", ref: "refs/heads/main", event_name: "push" };
  const tag = { ...push, ref: "refs/tags/v1.2.0" };
  const pull = { ...push, ref: "refs/pull/7/merge", event_name: "pull_request" };
  const merged = { ...push, event_name: "pull_request" };
  const target = { ...push, event_name: "pull_request_target" };
  const comment = { ...push, event_name: "issue_comment" };
  const production = { ...push, environment: "Production" };

  test.each<[string, string, WorkflowClaims]>([
    ["on any branch", "acme/docs", { ...push, ref: "refs/heads/x" }],
    ["on any tag", "acme/docs", tag],
    ["of the repository in another case", "Acme/Docs", push],
    ["on the branch", "acme/docs:refs/heads/main", push],
    ["on a ref with the prefix", "acme/docs:refs/tags/v1.*", tag],
    ["in the environment, in another case", "acme/docs:environment:production", production],
    ["in an environment, on the branch", "acme/docs:refs/heads/main", production],
    ["for a comment", "acme/docs", comment],
    ["of a merged pull request, on its branch", "acme/docs:refs/heads/main", merged],
    ["of a pull request, if the rule says so", "acme/docs:refs/pull/*", pull],
    [
      "for pull_request_target in the environment",
      "acme/docs:environment:production",
      { ...production, ...{ event_name: "pull_request_target" } },
    ],
  ])("%s", (_name, rule, claims) => {
    const rules = [parseTrustRule(rule)];
    expect(rulesFor(rules, claims)).toEqual(rules);
  });

  const elsewhere = (place: string) => `"acme/docs" is not trusted on ${place}`;
  test.each<[string, string, WorkflowClaims, string]>([
    [
      "another repository",
      "acme/docs",
      { ...push, repository: "acme/docs2" },
      'The repository "acme/docs2" is not trusted',
    ],
    ["another owner", "acme/docs", { ...push, repository: "evil/docs" }, 'The repository "evil/docs" is not trusted'],
    [
      "another branch",
      "acme/docs:refs/heads/main",
      { ...push, ref: "refs/heads/main2" },
      elsewhere('"refs/heads/main2" without an environment'),
    ],
    [
      "a branch in another case",
      "acme/docs:refs/heads/main",
      { ...push, ref: "refs/heads/Main" },
      elsewhere('"refs/heads/Main" without an environment'),
    ],
    [
      "a tag of that name",
      "acme/docs:refs/heads/main",
      { ...push, ref: "refs/tags/main" },
      elsewhere('"refs/tags/main" without an environment'),
    ],
    [
      "another prefix",
      "acme/docs:refs/tags/v*",
      { ...push, ref: "refs/heads/v1" },
      elsewhere('"refs/heads/v1" without an environment'),
    ],
    ["no environment", "acme/docs:environment:production", push, elsewhere('"refs/heads/main" without an environment')],
    [
      "another environment",
      "acme/docs:environment:prod",
      production,
      elsewhere('"refs/heads/main" in the environment "Production"'),
    ],
    ["a pull request", "acme/docs", pull, elsewhere('"refs/pull/7/merge" without an environment')],
    [
      "a pull request, for a prefix of its ref",
      "acme/docs:refs/p*",
      pull,
      elsewhere('"refs/pull/7/merge" without an environment'),
    ],
    [
      "a pull request in the environment",
      "acme/docs:environment:e",
      { ...pull, environment: "e" },
      elsewhere('"refs/pull/7/merge" in the environment "e"'),
    ],
    [
      "pull_request_target",
      "acme/docs",
      target,
      'Runs of "acme/docs" for pull_request_target are only trusted with an environment',
    ],
    [
      "pull_request_target on the branch",
      "acme/docs:refs/heads/main",
      target,
      'Runs of "acme/docs" for pull_request_target are only trusted with an environment',
    ],
  ])("but not %s", (_name, rule, claims, reason) => {
    expect(rulesFor([parseTrustRule("other/repo"), parseTrustRule(rule)], claims)).toEqual({ reason });
  });

  describe("by ids", () => {
    const claims = { ...push, repository_id: "345", repository_owner_id: "12" };
    const moved = { ...claims, repository: "acme/handbook" };
    const takenOver = { ...claims, repository_id: "999" };
    const otherOwner = { ...claims, repository_owner_id: "13" };

    test.each<[string, WorkflowClaims, boolean]>([
      ["acme/docs@345", claims, true],
      ["acme/docs@345", moved, true],
      ["acme/docs@345", otherOwner, true],
      ["acme/docs@345", takenOver, false],
      ["acme/docs@345", push, false],
      ["acme@12/docs@345", claims, true],
      ["acme@12/docs@345", otherOwner, false],
      ["acme@12/docs", claims, true],
      ["acme@12/docs", takenOver, true],
      ["acme@12/docs", moved, false],
      ["acme@12/docs", otherOwner, false],
    ])("%s (%o): %s", (rule, one, isTrusted) => {
      const rules = [parseTrustRule(rule)];
      if (isTrusted) expect(rulesFor(rules, one)).toEqual(rules);
      else expect(rulesFor(rules, one)).toMatchObject({ reason: expect.stringContaining("is not trusted") });
    });

    test("and says which ones a repository of that name has", () => {
      expect(rulesFor([parseTrustRule("acme/docs@345")], takenOver)).toEqual({
        reason: 'The repository "acme/docs" is not trusted with the id "999" and the owner\'s id "12"',
      });
    });
  });

  test("by all rules that match", () => {
    const rules = ["a=acme/docs", "b=acme/docs:refs/heads/main", "c=acme/docs:refs/heads/x"].map(parseTrustRule);
    expect(rulesFor(rules, push)).toEqual(rules.slice(0, 2));
  });

  test("and quotes what the token says", () => {
    const claims = { ...push, repository: 'a"\n::error::x' };
    expect(rulesFor([], claims)).toEqual({ reason: 'The repository "a\\"\\n::error::x" is not trusted' });
    const long = rulesFor([], { ...push, repository: "x".repeat(301) });
    expect(long).toEqual({ reason: `The repository "${"x".repeat(300)}" is not trusted` });
  });
});
