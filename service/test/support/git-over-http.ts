import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import type { DocsRepository } from "../../../tools/docs-repository.ts";

export interface GitHttpRequest {
  method: string | undefined;
  headers: IncomingHttpHeaders;
  /** Below the repository, such as `/info/refs`. */
  path: string;
  /** With its question mark. */
  query: string;
  body: Buffer;
}

export interface GitHttpAnswer {
  status: number;
  headers: Record<string, string>;
  body: Buffer;
}

/** The folder of Git's programs. */
let gitPrograms: string | undefined;

/** Lets a repository be served over HTTP as GitHub's are. */
export function allowGitOverHttp(docs: DocsRepository): void {
  // The commit of a pull request can be fetched also after its branch was deleted.
  const settings = "[http]\n\treceivepack = true\n[uploadpack]\n\tallowReachableSHA1InWant = true\n";
  appendFileSync(join(docs.path, "config"), settings);
}

/** Runs `git http-backend` as a CGI program, for anyone. */
export async function answerGit(docs: DocsRepository, request: GitHttpRequest): Promise<GitHttpAnswer> {
  gitPrograms ??= execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim();
  const backend = spawn(join(gitPrograms, "git-http-backend"), {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: docs.path,
      GIT_HTTP_EXPORT_ALL: "1",
      REMOTE_USER: "x-access-token",
      REQUEST_METHOD: request.method,
      PATH_INFO: request.path,
      QUERY_STRING: request.query.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      HTTP_GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  backend.stdin.on("error", () => {}).end(request.body);
  const chunks: Buffer[] = [];
  backend.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  await once(backend, "close");
  const output = Buffer.concat(chunks);
  const end = output.indexOf("\r\n\r\n");
  const fields = output.toString("latin1", 0, end).split("\r\n");
  const { Status: status = "200", ...headers } = Object.fromEntries(
    fields.map((line) => line.split(": ", 2) as [string, string]),
  );
  return { status: Number.parseInt(status, 10), headers, body: output.subarray(end + 4) };
}
