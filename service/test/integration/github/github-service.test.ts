import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { PrometheusMetrics } from "../../../src/metrics/prometheus.ts";
import { docsRepository, runJob, send, startAgentService, waitForJob } from "../../support/agent-service.ts";
import { startPullRequestServer } from "../../support/pull-request-server.ts";

const target = (apiUrl: string) => ({ apiUrl, owner: "acme", name: "docs", token: "token_0123456789" });

test("the service does not start with a token that cannot write, and says what it needs", async () => {
  await using server = await startPullRequestServer();
  const docs = docsRepository();
  const options = { folder: temporaryFolder(), github: target(server.url) };
  server.repository = { permissions: { push: false } };
  await expect(startAgentService(docs, options)).rejects.toThrow(
    "GITHUB_TOKEN needs write access to contents and pull requests of acme/docs.",
  );
  server.repository = { permissions: { push: true } };
  await using service = await startAgentService(docs, options);
  expect(service.lines).toEqual([expect.stringMatching(/^Jobs in the store: 0\./)]);
});

test("the token of a project is named as its configuration does", async () => {
  await using server = await startPullRequestServer();
  server.repository = { permissions: { push: false } };
  const github = { ...target(server.url), tokenVariable: "DOCS_TOKEN" };
  await expect(startAgentService(docsRepository(), { github })).rejects.toThrow("DOCS_TOKEN needs write access");
  server.answer = () => ({ status: 502, body: "" });
  await using service = await startAgentService(docsRepository(), { github });
  expect(service.lines[0]).toMatch(/^Cannot check DOCS_TOKEN, so/);
});

test("the service starts while GitHub is down, with a warning", async () => {
  await using server = await startPullRequestServer();
  server.answer = () => ({ status: 502, body: "" });
  const metrics = new PrometheusMetrics();
  await using service = await startAgentService(docsRepository(), { github: target(server.url), metrics });
  expect(await metrics.render(undefined)).toMatch(/^agent_service_github_requests_total{status="5xx"} [1-9]/m);
  expect(service.lines[0]).toMatch(/^Cannot check GITHUB_TOKEN, .* GitHub answered 502 to GET \/repos\/acme\/docs/);
  server.answer = () => undefined;
  expect((await runJob(service, 'Add a page "X"')).prLink).toBe(server.link(1));
});

test("a turn that waits for GitHub's rate limit is resumed by the next service, without another run of the agent", async () => {
  await using server = await startPullRequestServer();
  const docs = docsRepository();
  const options = {
    folder: temporaryFolder(),
    github: target(server.url),
    agent: shellAgent("cat >> README.md"),
  };
  server.answer = (request) =>
    request.startsWith("POST /repos") ? { status: 403, headers: { "retry-after": "3000" } } : undefined;
  let id = "";
  {
    await using service = await startAgentService(docs, options);
    id = (await send(service, "docs/job", "more")).job.id;
    await waitUntil(() =>
      service.lines.some((line) => line.startsWith(`${id}: turn 1 postponed: GitHub answered 403`)),
    );
    expect((await send(service, `docs/job/${id}`)).job.status).toBe("active");
  }
  server.answer = () => undefined;
  await using service = await startAgentService(docs, options);
  expect(await waitForJob(service, id)).toMatchObject({ status: "completed", prLink: server.link(1) });
  expect(docs.git("rev-list", "--count", `main..agent/${id}`)).toBe("1");
});

test("a job is archived once its pull request is merged on GitHub", async () => {
  await using server = await startPullRequestServer();
  const docs = docsRepository();
  const options = { folder: temporaryFolder(), github: target(server.url) };
  let id = "";
  {
    await using service = await startAgentService(docs, options);
    ({ id } = await runJob(service, 'Add a page "X"'));
  }
  server.close(1, true);
  // Rounds begin with the service.
  await using service = await startAgentService(docs, options);
  await expect
    .poll(async () => (await send(service, `docs/job/${id}`)).job.status, { timeout: 40_000 })
    .toBe("archived");
});
