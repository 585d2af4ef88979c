// Runs Git and an agent while this process has used up its file descriptors, and prints how that ends. Run it with a small
// limit. Arguments: a folder, in which it may write.
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { shellAgent } from "../../src/agents/agent.ts";
import { fullNetwork } from "../../src/agents/network/agent-network.ts";
import { runAgent } from "../../src/agents/run-agent.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import { Git } from "../../src/git/git.ts";
import { ResourceExhausted } from "../../src/processes/resource-exhausted.ts";

const [folder = ""] = process.argv.slice(2);
const git = new Git({ cwd: folder });
const directories = Object.fromEntries(
  ["home", "tree", "temporary", "input"].map((name) => [name, join(folder, name)]),
) as { home: string; tree: string; temporary: string; input: string };
for (const path of Object.values(directories)) mkdirSync(path);

const runGit = () => git.run(["version"]);
const run = () =>
  runAgent(shellAgent("true"), {
    prompt: "",
    isFollowUp: false,
    history: [],
    jobId: "job_1",
    requestId: "r1",
    directories: { ...directories, processes: join(folder, "processes.json") },
    objects: folder,
    sandbox: unconfined,
    network: fullNetwork,
    limits: {},
    onLimitExceeded: () => {},
    logFile: join(folder, "log"),
    timeLimitMs: 60_000,
    signal: new AbortController().signal,
  });

async function report(what: string, action: () => Promise<unknown>): Promise<void> {
  const how = await action().then(
    () => "succeeds",
    (error: unknown) => (error instanceof ResourceExhausted ? "waits" : `fails: ${error}`),
  );
  console.log(`${what} ${how}`);
}

await report("git", runGit);
await report("agent", run);
const opened: number[] = [];
try {
  for (;;) opened.push(openSync("/dev/null", "r"));
} catch {
  // Now there is none left. Those that Node needs for the files of the agent are given back.
  for (const descriptor of opened.splice(0, 4)) closeSync(descriptor);
}
await report("git without descriptors", runGit);
await report("agent without descriptors", run);
for (const descriptor of opened) closeSync(descriptor);
await report("git afterwards", runGit);
await report("agent afterwards", run);
