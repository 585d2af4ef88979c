import { join } from "node:path";
import { expect, test } from "vitest";
import { inputsFor } from "../../../test/support/scripted-service.ts";
import { type Step, step, temporaryFolder } from "../../../test/support/step.ts";
import { docsRepository } from "../support/agent-service.ts";
import { spawnService } from "../support/service-process.ts";
import { type Claims, createSigningKey, TokenIssuer } from "../support/token-issuer.ts";

/** An issuer whose tokens the steps request, as a runner lets them. */
async function startIssuer() {
  const [key, otherKey] = await Promise.all([createSigningKey("one"), createSigningKey("one")]);
  const issuer = await TokenIssuer.start(
    key,
    () => "",
    () => Date.now(),
  );
  const runs: { claims: Claims; isForged: boolean }[] = [];
  issuer.answer = async ({ url = "" }, response) => {
    const { pathname, searchParams } = new URL(url, issuer.url);
    const run = runs[Number(pathname.match(/^\/token\/(\d+)$/)?.[1])];
    const audience = { aud: searchParams.get("audience") };
    const answer = run
      ? { value: await issuer.issue({ ...audience, ...run.claims }, run.isForged ? otherKey : key) }
      : { keys: issuer.published };
    response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
  };
  /** Runs a step whose token has these claims, and is perhaps signed with a key that is not the issuer's. */
  const runStep = (inputs: Record<string, string>, claims: Claims = {}, isForged = false): Promise<Step> => {
    const environment = {
      ACTIONS_ID_TOKEN_REQUEST_URL: `${issuer.url}/token/${runs.push({ claims, isForged }) - 1}?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "runner-request-token-0123456789",
    };
    return step(inputs, { environment });
  };
  return { url: issuer.url, runStep };
}

test("a service with --trust runs the job of a trusted workflow, and no other", async () => {
  const issuer = await startIssuer();
  const docs = docsRepository();
  const trust = ["--trust", "acme/docs:refs/heads/main", "--trust-issuer", issuer.url];
  const agent = ["--agent", "cat > answer.md; sleep 0.5", "--sandbox", "none"];
  const store = ["--store", join(temporaryFolder(), "jobs.sqlite")];
  const service = await spawnService(["--repository", docs.path, "--project", "docs", ...trust, ...agent, ...store]);
  // A second poll that the service did not hold would only be sent after the test's time is over.
  const intervals = { "poll-interval-seconds": "0.05", "max-poll-interval-seconds": "1000" };
  const inputs = inputsFor(service, { "api-key": "", auth: "github-oidc", ...intervals });

  const refusals: [Claims, boolean, string][] = [
    [{ repository: "evil/docs" }, false, 'The repository "evil/docs" is not trusted'],
    [{}, true, "The signature of the token is wrong"],
  ];
  const refused = refusals.map(async ([claims, isForged, reason]) => {
    const { exitCode, outputs, annotations } = await issuer.runStep(inputs, claims, isForged);
    expect([exitCode, outputs.outcome, outputs["job-id"]], reason).toEqual([1, "error", ""]);
    expect(annotations).toEqual([expect.stringMatching(/^error No job was started: .* No job was started\./)]);
    expect(annotations[0]).toContain(reason);
  });
  await Promise.all(refused);

  const { exitCode, outputs, log, summary } = await issuer.runStep(inputs);
  expect([exitCode, outputs.outcome]).toEqual([0, "pr-created"]);
  expect(docs.branches(), "only the trusted run has started a job").toEqual([outputs.ref]);
  expect(docs.read(outputs.ref ?? "", "answer.md")).toBe("Update the quickstart");
  expect(summary).toContain(`<a href="${service.url}/job/${outputs["job-id"]}">Job page</a>`);
  expect(log.match(/GET \/v2\/agent/g)?.length, "polls, which the service holds").toBeLessThan(3);
});
