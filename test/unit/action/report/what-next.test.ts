import { describe, expect, test } from "vitest";
import { idToken } from "../../../support/id-token.ts";
import { pollsReturn, prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

const attach = { prompt: "", "job-id": "job_1" };
const message = { "job-id": "job_1" };
const own = { "base-url": "https://agents.example.com" };

/** Returns the last annotation, or without one the last lines of the log. */
async function said(...args: Parameters<typeof runMain>): Promise<string> {
  const { toolkit } = await runMain(...args);
  const last = toolkit.annotations.at(-1);
  return last ? `${last.title}: ${last.text}` : toolkit.lines.slice(-3).join("\n");
}

describe("a job that was not found", () => {
  test("for a base-url that ends in /v2: says to remove it", async () => {
    for (const path of ["/v2", "/v2/", "/x/v2//"]) {
      const text = await said({ inputs: { "base-url": `https://x.example${path}` }, respond: () => respondWith(404) });
      expect(text).toContain("base-url ends in /v2, which the action adds itself");
    }
    const other = { "base-url": "https://x.example/v2/agents" };
    expect(await said({ inputs: other, respond: () => respondWith(404) })).not.toContain("ends in /v2");
  });

  test("for a poll or message: names the job and the project", async () => {
    for (const inputs of [attach, message]) {
      const text = await said({ inputs, respond: () => respondWith(404, { error: "Job not found" }) });
      expect(text).toMatch(/Job job_1 was not found in project docs.*a job is only found in its own project/s);
      const ofGateway = await said({ inputs, respond: () => respondWith(404, "404 page not found") });
      expect(ofGateway).toMatch(/HTTP 404: 404 page not found.*Check base-url, and any gateway/s);
      expect(ofGateway).not.toContain("was not found");
    }
  });

  test("with an agent on the runner: names what its jobs are known by, and how to start another", async () => {
    const text = await said({
      inputs: { ...message, "project-id": "", "api-key": "", agent: "editor", "github-token": "ghs_0123456789" },
      environment: { RUNNER_OS: "Linux", GITHUB_REPOSITORY: "acme/docs" },
      agent: { connect: (transport) => transport, prepare: async () => {}, check: async () => {}, end: async () => {} },
      respond: () => respondWith(404, { error: "Job not found" }),
    });
    expect(text).toMatch(/Job job_1 was not found\. .*the same agent, repository and --name.*remove job-id/s);
    expect(text).not.toContain("project-id");
  });

  test("for a create: names the project, and the dashboard only of the service that has one", async () => {
    expect(await said({ respond: () => respondWith(404) })).toMatch(/Project docs was not found.*API keys page/s);
    const text = await said({ inputs: own, respond: () => respondWith(404) });
    expect(text).toMatch(/Project docs was not found.*Check project-id and base-url/s);
    expect(text).not.toContain("dashboard");
  });
});

describe("an HTTP error", () => {
  test.each<[number, Record<string, string>, RegExp]>([
    [400, attach, /Check job-id and project-id/],
    [400, {}, /rejected the request.*Change what the service/s],
    [401, own, /Update the secret with a key that the service accepts/],
    [403, own, /use one that may start jobs\. If the service limits addresses, allow the runner's\./],
    [422, {}, /See the service's message/],
    [302, {}, /Redirects are not followed.*would send the API key to.*Set base-url to the service's own URL/s],
  ])("%i with %j says what to do", async (status, inputs, advice) => {
    expect(await said({ inputs, respond: () => respondWith(status, { error: "No." }) })).toMatch(advice);
  });

  test.each<[number, RegExp]>([
    [401, /does not trust this workflow run.*The service must trust this repository/s],
    [403, /Access was denied.*The service must trust this repository/s],
    [302, /would send the token to another address/],
  ])("%i with an OIDC token blames no key", async (status, advice) => {
    const text = await said({
      inputs: { ...own, "api-key": "", auth: "github-oidc" },
      environment: {
        ACTIONS_ID_TOKEN_REQUEST_URL: "https://tokens.example/idtoken",
        ACTIONS_ID_TOKEN_REQUEST_TOKEN: "runner-request-token-0123456789",
      },
      respond: ({ path }) =>
        path === "/idtoken" ? respondWith(200, { value: idToken() }) : respondWith(status, { error: "No." }),
    });
    expect(text).toMatch(advice);
    expect(text).not.toMatch(/API key/);
  });

  test("ends with one period, and keeps those inside the service's message", async () => {
    const text = await said({ respond: () => respondWith(422, { error: "See v1.2. Then stop." }) });
    expect(text).toContain("HTTP 422: See v1.2. Then stop. ");
  });

  test("503 without time left says to run it again later", async () => {
    const text = await said({ respond: () => respondWith(503, "", { "retry-after": "99999" }) });
    expect(text).toMatch(/The service is unavailable.*Run this again later/s);
  });
});

describe("a network error", () => {
  test("of a message: names the address and the phase", async () => {
    const text = await said({ inputs: { ...message, ...own }, respond: () => ({ failure: "no-response" }) });
    expect(text).toContain(
      "The connection to https://agents.example.com/ failed while waiting for the response (simulated network failure)",
    );
    expect(text).toContain("A re-run of this workflow run may send it a second time.");
  });

  test("of a certificate: says how to trust it", async () => {
    const text = await said({ respond: () => ({ failure: "certificate" }) });
    expect(text).toMatch(/certificate of https:\/\/api\.mintlify\.com\/ is not trusted.*NODE_EXTRA_CA_CERTS/s);
    expect(text).not.toContain("proxy settings");
  });

  test("of a connection: says to check the network", async () => {
    const text = await said({ respond: () => ({ failure: "not-connected" }) });
    expect(text).toMatch(/Cannot connect to https:\/\/api\.mintlify\.com\/ .*proxy settings/s);
  });

  test("of a response that is no record: says to check base-url", async () => {
    expect(await said({ respond: () => respondWith(200, "<html>") })).toMatch(/is not usable.*/s);
  });
});

describe("a job that ended", () => {
  const ends = (status: string, fields: Record<string, unknown> = {}) =>
    said({ inputs: { "fail-on": "none" }, respond: pollsReturn(record({ status, ...fields })) });

  test("as failed or archived: says how to start a new one", async () => {
    expect(await ends("failed")).toMatch(/^Job failed: .*See the dashboard for the cause\. To start a new job, run/s);
    expect(await ends("archived")).toMatch(
      /^Job archived: .*no longer running\.\nIf you still need its work: To start a new job, run the action/s,
    );
  });

  test("without a pull request: says to make the prompt more specific", async () => {
    expect(await ends("completed")).toMatch(/^No pull request: .*make the prompt more specific/s);
  });

  test("with an invalid link: says where to look for the pull request", async () => {
    const text = await ends("completed", { prLink: "javascript:1" });
    expect(text).toMatch(/^No pull request: .*returned an invalid pull request link.*in the dashboard/s);
  });

  test("with an invalid link of another service: on its platform", async () => {
    const polls = pollsReturn(record({ status: "completed", prLink: "javascript:1" }));
    expect(await said({ inputs: own, respond: polls })).toContain("Look for the pull request on its platform.");
  });

  test("with a pull request: nothing is left to do", async () => {
    expect(await ends("completed", { prLink })).toMatch(/and opened a pull request\.$/);
  });
});

describe("a step that does not wait", () => {
  const started = (inputs: Record<string, string>) =>
    runMain({ inputs: { ...inputs, wait: "false" }, respond: () => respondWith(200, record()) });

  test.each([
    ["a create", {}, "🚀 Job started"],
    ["a message", message, "🚀 Message sent"],
    ["a wait", attach, "🚀 Job is running"],
  ])("titles the summary after %s", async (_name, inputs, title) => {
    expect((await started(inputs)).toolkit.summary).toContain(`<h2>${title}</h2>`);
  });
});

describe("a timeout", () => {
  const timeOut = (inputs: Record<string, string>, status = "active") =>
    said({ inputs: { "timeout-minutes": "0.1", ...inputs }, respond: () => respondWith(200, record({ status })) });

  test("says for how long, and that the job keeps running", async () => {
    expect(await timeOut({})).toMatch(/^Timed out: Job job_1 was still running after 6 s\. It keeps running/);
  });

  test("says which input a workflow may lack, unless the job was named by an input", async () => {
    expect(await timeOut({})).toContain("add job-id to the inputs of on.workflow_dispatch");
    expect(await timeOut(attach)).not.toContain("on.workflow_dispatch");
  });

  test("says whether the status is the one from before the message", async () => {
    expect(await timeOut(message, "completed")).toContain("(its status was still the one from before the message)");
    expect(await timeOut(message)).not.toContain("before the message");
  });
});
