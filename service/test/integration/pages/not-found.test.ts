import { expect, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { docsRepository, startAgentService } from "../../support/agent-service.ts";

test("an unknown address is a page for browsers, and JSON for programs", async () => {
  await using service = await startAgentService(docsRepository());
  const ask = async (path: string, headers: Record<string, string>) => {
    const response = await fetch(service.url + path, { headers });
    return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
  };
  const page = await ask("/jobs", { accept: "text/html,application/xhtml+xml" });
  expect(page).toMatchObject({ status: 404, type: "text/html; charset=utf-8" });
  expect(page.text).toContain('There is no page at this address.</p>\n<p><a href="/">Jobs</a></p>');
  // Only the beginning of a path makes it one of the API.
  expect(await ask("/jobs/v2", { accept: "text/html" })).toMatchObject({
    status: 404,
    type: "text/html; charset=utf-8",
  });
  const key = { authorization: `Bearer ${serviceKey}` };
  expect(await ask("/jobs", { ...key, accept: "*/*" })).toMatchObject({ status: 404, text: '{"error":"Not found"}' });
  expect(await ask("/v2/x", { ...key, accept: "text/html" })).toMatchObject({
    status: 404,
    text: '{"error":"Not found"}',
  });
});
