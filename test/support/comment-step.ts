import type { FakeGitHub } from "./fake-github.ts";
import { type GitHubFault, type GitHubServer, startGitHub } from "./github-server.ts";
import { type Comment, commentEnvironment, commentInputs } from "./payload.ts";
import { inputsFor, startScriptedService } from "./scripted-service.ts";
import { type Step, step, temporaryFolder } from "./step.ts";

/** Runs a step for a comment, against the service and a GitHub server with this fault. */
export async function runCommentStep(
  options: {
    fault?: GitHubFault;
    event?: Partial<Comment>;
    inputs?: Record<string, string>;
    prepare?: (github: FakeGitHub) => void;
    attempt?: number;
  } = {},
): Promise<Step & { github: GitHubServer; posts: string[] }> {
  await using service = await startScriptedService();
  await using github = await startGitHub(options.fault);
  options.prepare?.(github.github);
  const folder = temporaryFolder();
  const event = { id: 77, text: "/agent fix it", author: { login: "writer" }, ...options.event };
  const environment = {
    ...commentEnvironment(folder, github.url, event),
    ...(options.attempt && { GITHUB_RUN_ATTEMPT: String(options.attempt) }),
  };
  const result = await step(inputsFor(service, { ...commentInputs, ...options.inputs }), { folder, environment });
  return { ...result, github, posts: service.requests.filter((request) => request.startsWith("POST")) };
}
