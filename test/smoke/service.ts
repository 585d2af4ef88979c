import { spawn } from "node:child_process";
import { createServer } from "node:http";

// A stub of an agent job service for the smoke workflow: it runs on each of GitHub's runners without npm. Started without
// arguments, it starts itself in a process that outlives the workflow's step: `node test/smoke/service.ts`.

const port = 8701;

/** Starts the stub, and ends when it listens. */
function start(): void {
  const child = spawn(process.execPath, [import.meta.filename, "serve"], {
    detached: true,
    windowsHide: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  child.once("message", () => {
    child.disconnect();
    child.unref();
  });
  child.once("exit", (code) => process.exit(code ?? 1));
}

/** Serves jobs that are active until they get a message. A job that it does not know is one of another runner's stub. */
function serve(): void {
  const jobs = new Map<string, { status: string; prompts: string[] }>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const isPost = request.method === "POST";
    const [path = ""] = request.url?.split("?") ?? [];
    const [, known, message] = /\/job\/([^/]+)(\/message)?$/.exec(path) ?? [];
    // Jobs cannot be listed.
    if (!isPost && known === undefined) {
      response.writeHead(404).end();
      return;
    }
    const id = known ?? `job_${process.env.SYSTEM}_${jobs.size + 1}`;
    const job = jobs.get(id) ?? { status: "active", prompts: [] };
    jobs.set(id, job);
    if (message) job.status = "completed";
    if (isPost) job.prompts.push(JSON.parse(body).prompt);
    response.writeHead(isPost ? 201 : 200, { "content-type": "application/json" });
    // The step shows the model as it is, so a workflow can check what was sent.
    response.end(JSON.stringify({ id, status: job.status, model: JSON.stringify(job.prompts) }));
  });
  server.listen(port, "127.0.0.1", () => process.send?.("listening"));
}

if (process.argv[2] === "serve") serve();
else start();
