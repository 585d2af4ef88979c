import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { createProjectSettings } from "../../../src/options/project-settings.ts";
import { docsRepository, runJob, startAgentService } from "../../support/agent-service.ts";
import { startPullRequestServer } from "../../support/pull-request-server.ts";

const oldKey = "sk-old-0123456789";
const newKey = "sk-new-0123456789";

test("a key and a token are replaced while the service runs, and no change may have the old ones either", async () => {
  await using server = await startPullRequestServer();
  const folder = temporaryFolder();
  const [keyFile, tokenFile] = [join(folder, "key"), join(folder, "token")];
  writeFileSync(keyFile, oldKey);
  writeFileSync(tokenFile, "token_old_0123456789\n");
  vi.stubEnv("MODEL_KEY_FILE", keyFile);
  onTestFinished(() => void vi.unstubAllEnvs());
  const docs = docsRepository();
  const { agent, github, secrets } = createProjectSettings(
    {
      repository: docs.path,
      github: "acme/docs",
      githubApi: server.url,
      agent: 'cat > prompt.md; printf %s "$MODEL_KEY" | sha256sum > key.md',
      agentEnv: ["MODEL_KEY"],
    },
    { MODEL_KEY_FILE: keyFile, GITHUB_TOKEN_FILE: tokenFile },
  );
  await using service = await startAgentService(docs, { agent, github, secrets });
  const keyOf = ({ id }: { id: string }) => docs.read(`agent/${id}`, "key.md").slice(0, 64);
  const hash = (key: string) => createHash("sha256").update(key).digest("hex");
  expect(keyOf(await runJob(service, "First"))).toBe(hash(oldKey));

  writeFileSync(keyFile, newKey);
  writeFileSync(tokenFile, "token_new_0123456789\n");
  server.headers.length = 0;
  expect(keyOf(await runJob(service, "Second"))).toBe(hash(newKey));
  const sent = new Set(server.headers.map(({ authorization }) => authorization));
  expect(sent).toEqual(new Set(["Bearer token_new_0123456789"]));

  expect(await runJob(service, `${oldKey} of before`)).toMatchObject({ status: "failed" });
  expect(service.lines.join("\n")).not.toMatch(/sk-|token_/);
});
