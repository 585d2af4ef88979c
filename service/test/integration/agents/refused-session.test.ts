import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Agent } from "../../../src/agents/agent.ts";
import { presetAgent } from "../../../src/agents/presets.ts";
import { JobDirectory } from "../../../src/service-folder.ts";
import { newSessionNote } from "../../../src/turns/log-notes.ts";
import { turnHost } from "../../../src/turns/turn-host.ts";
import {
  docsRepository,
  runJob,
  scriptAgent,
  send,
  startAgentService,
  waitForJob,
} from "../../support/agent-service.ts";

const refusal = 'API Error: 400 messages.3: "tool_use" ids were found without "tool_result" blocks';

/**
 * Returns a stand-in for Claude Code, whose API refuses a session that ends with the use of a tool, and which begins another session if it
 * cannot read one. Its sessions are where Claude Code has them, and it prints its events.
 */
function standIn(): Agent {
  const agent = presetAgent("claude", { ANTHROPIC_API_KEY: "a" });
  if (agent === undefined) throw new Error("there is no such preset");
  const command = (isFollowUp: boolean) =>
    scriptAgent(`
      const folder = process.env.HOME + "/.claude/projects/p";
      const old = () => fs.readFileSync(folder + "/s.jsonl", "utf8");
      const last = ${isFollowUp} ? old() : "";
      const id = ${isFollowUp} && last !== "}{" ? "s" : "s".repeat(last.length + 1);
      const print = (event) => console.log(JSON.stringify({ session_id: id, ...event }));
      const say = (text, model) => print({ type: "assistant", message: { model, content: [{ type: "text", text }] } });
      fs.mkdirSync(folder, { recursive: true });
      print({ type: "system", subtype: "init" });
      if (last === "}{") await new Promise((resolve) => setTimeout(resolve, 60_000));
      if (last === "tool_use") {
        say(${JSON.stringify(refusal)}, "<synthetic>");
        print({ type: "result", is_error: true, result: ${JSON.stringify(refusal)}, total_cost_usd: 0 });
        process.exit(1);
      }
      fs.writeFileSync(folder + "/s.jsonl", "said");
      fs.writeFileSync("page.md", prompt);
      say("Done.", "claude");
      print({ type: "result", is_error: false, result: "Done.", total_cost_usd: 0.5 });`).command({
      isFollowUp: false,
      isSandboxed: false,
    });
  return { ...agent, command: ({ isFollowUp }) => command(isFollowUp), programs: [] };
}

describe("a session", () => {
  /** Runs a turn, prepares its session, and runs another one. */
  async function followUp(prepare: (sessions: string) => void) {
    const docs = docsRepository();
    const service = await startAgentService(docs, { agent: standIn(), host: turnHost });
    onTestFinished(() => service[Symbol.asyncDispose]());
    const { id } = await runJob(service, "First");
    const directory = new JobDirectory(service.folder, id);
    const sessions = join(directory.home, ".claude/projects/p");
    prepare(sessions);
    await send(service, `docs/job/${id}/message`, "Second");
    const job = await waitForJob(service, id);
    const log = readFileSync(join(service.folder, "logs", `${id}.log`), "utf8");
    return { job, log, page: docs.read(`agent/${id}`, "page.md"), directory, sessions };
  }

  test("that the API refuses costs one more run of the agent, and no job", async () => {
    const { job, log, page, directory, sessions } = await followUp((folder) => {
      writeFileSync(join(folder, "s.jsonl"), "tool_use");
    });
    expect(job, log).toMatchObject({ status: "completed" });
    expect(log.split(`The agent reported: ${refusal}\n`)).toHaveLength(2);
    expect(log.split(newSessionNote)).toHaveLength(2);
    // The new session is told the earlier turns, and is the one that is left.
    expect(page).toMatch(/Earlier turns of this job[\s\S]*First[\s\S]*Second$/);
    expect(readFileSync(join(sessions, "s.jsonl"), "utf8")).toBe("said");
    expect(readdirSync(directory.path)).toEqual(expect.not.arrayContaining(["home-before", "old-home"]));
  });

  test("that is missing in the home costs no run", async () => {
    const { job, log, page } = await followUp((folder) => {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
    });
    expect(job, log).toMatchObject({ status: "completed" });
    expect(log).toContain(`${newSessionNote} Its prompt tells of them.\n`);
    expect(log).not.toContain("once more");
    expect(page).toMatch(/Earlier turns of this job[\s\S]*First[\s\S]*Second$/);
  });

  test("that its CLI does not find costs a run that is ended at once", async () => {
    const { job, log, page } = await followUp((folder) => writeFileSync(join(folder, "s.jsonl"), "}{"));
    expect(job, log).toMatchObject({ status: "completed" });
    expect(log).toContain("The agent did not find the session of the earlier turns, and began another one.\n");
    expect(log.split(newSessionNote)).toHaveLength(2);
    expect(page).toMatch(/Earlier turns of this job[\s\S]*First[\s\S]*Second$/);
  });

  test("that is there goes on", async () => {
    const { job, log, page } = await followUp(() => {});
    expect(job, log).toMatchObject({ status: "completed" });
    expect(log).not.toContain(newSessionNote);
    expect(page).not.toContain("Earlier turns");
  });
});
