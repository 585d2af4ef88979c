import { expect, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { conform } from "../../../../tools/conform/conform.ts";
import { docsRepository, startAgentService } from "../../support/agent-service.ts";

test("the service meets every requirement of the protocol, with what it offers beyond the specification", async () => {
  await using service = await startAgentService(docsRepository(), { hasJobPages: true });
  const lines: string[] = [];
  const failures = await conform(
    {
      baseUrl: new URL(service.url),
      project: "docs",
      key: serviceKey,
      startsJob: true,
      prompt: 'Add a page "A" that says "B."',
      message: 'Add a page "C" that says "D."',
      turnLimitMs: 50_000,
      pollMs: 20,
      settleMs: 0,
    },
    (line) => lines.push(line),
  );
  expect(failures).toEqual([]);
  expect(lines.at(-1)).toMatch(/^\d+ met, 0 failed, 0 not checked\.$/);
});
