// An agent that searches everything it can reach for the secrets in its prompt, and writes what it found to report.md. The prompt
// is backwards and in base64: a prompt with a secret that the service recognizes would keep the commit from being pushed. It runs in a sandbox, so it imports only Node's modules.
import fs from "node:fs";
import { join } from "node:path";

const given = fs.readFileSync(0, "utf8").match(/[A-Za-z0-9+/]{40,}=*/)?.[0] ?? "";
const { secrets, folders } = JSON.parse(Buffer.from(given, "base64").reverse().toString()) as {
  secrets: Record<string, string>;
  /** Where to search, besides the environment and the processes. */
  folders: string[];
};
const found: string[] = [];
let searched = 0;

function search(place: string, content: string): void {
  searched++;
  for (const [name, secret] of Object.entries(secrets)) if (content.includes(secret)) found.push(`${name} in ${place}`);
}

function tryTo(action: () => void): void {
  try {
    action();
  } catch {
    // It cannot be reached.
  }
}

function searchFolder(folder: string): void {
  tryTo(() => {
    for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      // Its own prompt.
      if (path === process.env.AGENT_PROMPT_FILE?.replace(/\/prompt\.txt$/, "")) continue;
      if (entry.isDirectory() && entry.name !== "node_modules") searchFolder(path);
      if (entry.isFile()) tryTo(() => search(path, fs.readFileSync(path, "latin1")));
    }
  });
}

search("the environment", JSON.stringify(process.env));
for (const id of fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
  for (const file of ["environ", "cmdline"])
    tryTo(() => search(`process ${id}`, fs.readFileSync(`/proc/${id}/${file}`, "latin1")));
for (const folder of folders) searchFolder(folder);

const { ANTHROPIC_BASE_URL, COPILOT_API_URL } = process.env;
const requests =
  COPILOT_API_URL === undefined
    ? [["POST", `${ANTHROPIC_BASE_URL}/v1/messages`]]
    : [
        ["POST", `${COPILOT_API_URL}/chat/completions`],
        ["GET", `${COPILOT_API_URL}/copilot_internal/v2/token`],
        ["OPTIONS", `${COPILOT_API_URL}/models`],
      ];
for (const [method = "", url = ""] of requests) {
  const answer = await fetch(url, { method, ...(method === "POST" && { body: "{}" }) }).catch(() => undefined);
  if (answer) search(`the answer to ${method}`, JSON.stringify([...answer.headers]) + (await answer.text()));
}

fs.writeFileSync("report.md", `Searched ${searched} places.\n${found.join("\n")}\n`);
// As Claude Code and Copilot CLI end.
console.log(JSON.stringify({ type: "result", result: "Searched.", is_error: false, exitCode: 0 }));
