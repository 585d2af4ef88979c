import * as z from "zod/mini";
import { messageOf } from "../client/errors.ts";
import { isThreadEvent } from "./comments/event.ts";
import { askService } from "./memory/ask-service.ts";
import { cancelledBeforeSending, type RunResult } from "./result.ts";
import { connectGitHub, type Run } from "./run.ts";
import { readEventFile } from "./runner/event-file.ts";

/** The timeout of the request to GitHub, in milliseconds. */
const requestTimeoutMs = 10_000;

const repository = z.object({ id: z.int() });
/** The head's repository is `null` if it was deleted. */
const pullRequest = z.object({
  head: z.object({ ref: z.string(), repo: z.nullable(repository) }),
  base: z.object({ repo: repository }),
});
const payload = z.object({
  pull_request: z.optional(pullRequest),
  issue: z.optional(z.object({ number: z.int(), pull_request: z.optional(z.unknown()) })),
});

/**
 * Finds the branch that a new job starts from, for the input `base`; `undefined` for the project's own. The service must announce
 * that it takes one. Returns a result if nothing may be sent. Never rejects. GitHub's documentation: "Get a pull request".
 */
export async function findBase(run: Run): Promise<{ base: string | undefined } | RunResult> {
  const { base } = run.settings;
  if (base === "") return { base: undefined };
  const found = base === "pull-request" ? await headOfEvent(run) : { base };
  if ("kind" in found || found.base === undefined) return found;
  // A dry run sends nothing to the service, so it trusts that it takes one.
  if (run.settings.dryRun) return found;
  await askService(run);
  if (run.ports.signal.aborted) return cancelledBeforeSending;
  return run.state.features?.has("base") ? found : { kind: "blocked", cause: "no-base" };
}

async function headOfEvent(run: Run): Promise<{ base: string | undefined } | RunResult> {
  const { environment, signal } = run.ports;
  const name = environment.GITHUB_EVENT_NAME ?? "";
  try {
    if (!isThreadEvent(name)) return { base: undefined };
    const event = parse(payload, readEventFile(environment.GITHUB_EVENT_PATH ?? ""));
    const { issue } = event;
    const isPullRequest = event.pull_request !== undefined || issue?.pull_request !== undefined;
    if (!isPullRequest) return { base: undefined };
    const pull = event.pull_request ?? (await readPullRequest(issue?.number ?? 0, run));
    const isOwn = pull.head.repo?.id === pull.base.repo.id;
    return isOwn
      ? { base: pull.head.ref }
      : { kind: "skipped", reason: "fork", triggerKind: "pull request", isBase: true };
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "base", detail: messageOf(error) };
  }
}

async function readPullRequest(number: number, run: Run): Promise<z.infer<typeof pullRequest>> {
  const { environment, signal } = run.ports;
  const [owner = "", repo = ""] = (environment.GITHUB_REPOSITORY ?? "").split("/");
  const github = await connectGitHub(run);
  const parameters = { owner, repo, pull_number: number };
  const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}";
  return parse(pullRequest, await github.request(route, parameters, { timeoutMs: requestTimeoutMs, signal }));
}

/** @throws with the name of the first field that is missing or has another type */
function parse<T>(schema: z.ZodMiniType<T>, data: unknown): T {
  const result = schema.safeParse(data);
  if (result.success) return result.data;
  throw new Error(`it has no usable ${result.error.issues[0]?.path.join(".") || "content"}`);
}
