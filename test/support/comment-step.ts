import type { FakeGitHub } from "./fake-github.ts";
import { type GitHubFault, type GitHubServer, startGitHub } from "./github-server.ts";
import { type Comment, commentEnvironment, commentInputs } from "./payload.ts";
import { inputsFor, type ScriptedServiceOptions, startScriptedService } from "./scripted-service.ts";
import { type Step, temporaryFolder } from "./step.ts";

/** What runs a step: `step`, or `stepHere`. */
type Run<T> = (
  inputs: Record<string, string>,
  options: { folder: string; environment: Record<string, string> },
) => Promise<T>;

/** Runs a step for a comment, against the service and a GitHub server with this fault. */
export async function runCommentStep<T extends Omit<Step, "files">>(
  run: Run<T>,
  options: {
    fault?: GitHubFault;
    event?: Partial<Comment>;
    inputs?: Record<string, string>;
    prepare?: (github: FakeGitHub) => void;
    script?: ScriptedServiceOptions["script"];
  } = {},
): Promise<T & { github: GitHubServer; posts: string[]; prompts: string[] }> {
  await using service = await startScriptedService(options.script && { script: options.script });
  await using github = await startGitHub(options.fault);
  options.prepare?.(github.github);
  const folder = temporaryFolder();
  const event = { id: 77, text: "/agent fix it", author: { login: "writer" }, ...options.event };
  const environment = commentEnvironment(folder, github.url, event);
  const result = await run(inputsFor(service, { ...commentInputs, ...options.inputs }), { folder, environment });
  const posts = service.requests.filter((request) => request.startsWith("POST"));
  return { ...result, github, posts, prompts: service.engine.prompts };
}
