import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { shellAgent } from "../../../src/agents/agent.ts";
import { Git } from "../../../src/git/git.ts";
import { docsRepository, runJob, startAgentService } from "../../support/agent-service.ts";

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test("the service's Git only has settings of the service and those of the operator for transfers", async () => {
  const home = temporaryFolder();
  const filter = '[filter "x"]\n\tclean = false\n';
  writeFileSync(join(home, ".gitconfig"), `[credential]\n\thelper = mine\n${filter}`);
  vi.stubEnv("HOME", home);
  const planted = `[include]\n\tpath = /tmp/x\n${filter}`;
  const agent = shellAgent(`printf '%s' '${planted}' | tee -a ${home}/.gitconfig >> ../../../mirror.git/config`);
  await using service = await startAgentService(docsRepository(), { agent });
  await runJob(service, "Go on");
  const run = vi.spyOn(Git.prototype, "run");
  await runJob(service, "Go on");
  const [git] = run.mock.contexts as Git[];
  const list = (await git?.run(["config", "--list", "--show-origin"])) ?? "";
  expect(list).toContain("command line:\tcredential.helper=mine");
  for (const line of list.trim().split("\n"))
    expect(line).toMatch(/^command line:|^file:\S+\/mirror\.git\/config\tcore\./);
  expect(list).not.toMatch(/filter|include/);
});
