import { messageOf } from "../client/errors.ts";
import { isMerge, jobsOf } from "./commit-jobs.ts";
import { cancelledBeforeSending, type RunResult } from "./result.ts";
import { connectGitHub, type Run } from "./run.ts";
import { ownRepository, readEvent } from "./runner/environment.ts";

/** Events that an agent's push causes, whoever the token belongs to. */
const ownEvents =
  /^(push|create|workflow_run|check_run|check_suite|status|pull_request(_target)? (opened|synchronize))\b/;
/** The branch of a job, whatever its prefix. */
const jobBranch = /job_[0-9a-f-]{36}$/;

/**
 * Returns the result of a run whose event an agent's own push caused: it starts no agent, whose push would start the next one, for ever.
 * What people do on an agent's branch does. Returns a result, too, if this cannot be found out. Never rejects.
 */
export async function findOwnChange(run: Run): Promise<RunResult | undefined> {
  const { environment, signal } = run.ports;
  const { GITHUB_EVENT_NAME: name = "", GITHUB_EVENT_PATH: path, GITHUB_SHA } = environment;
  if (!path) return undefined;
  const read = async (route: string, parameters: object): Promise<unknown> => {
    const place = { ...ownRepository(environment), ...parameters };
    const limits = { timeoutMs: 10_000, signal };
    return (await connectGitHub(run)).request(`GET /repos/{owner}/{repo}/${route}`, place, limits);
  };
  let branch = "";
  try {
    const payload = readEvent(environment);
    const { login, type } = Object(at(payload, "sender"));
    const isBot = type === "Bot" || String(login).endsWith("[bot]");
    if (!isBot && !ownEvents.test(`${name} ${at(payload, "action")}`)) return undefined;
    const pull_number = at(payload, "issue.pull_request") && at(payload, "issue.number");
    const pull = pull_number ? await read("pulls/{pull_number}", { pull_number }) : at(payload, "pull_request");
    const head = at(payload, "workflow_run", "check_run", "check_suite", "merge_group");
    branch = String(
      at(pull, "head.ref") ??
        at(head, "head_branch", "check_suite.head_branch") ??
        at(payload, "deployment.ref", "ref"),
    );
    const ref = at(pull, "head.sha") ?? at(head, "head_sha") ?? at(payload, "deployment.sha", "sha") ?? GITHUB_SHA;
    // No agent works in a fork, but there, anyone can give a branch or commit its name.
    if (at(pull, "head.repo.id") !== at(pull, "base.repo.id")) return undefined;
    if (at(head, "head_repository.id") !== at(head, "repository.id")) return undefined;
    const isOfJob = jobBranch.test(branch);
    // A job's branch begins as a copy of its base, for which these events then come; runs and checks have the default branch's commit themselves.
    const isCopy =
      name === "create" || at(payload, "created") === true || (/^(work|check)/.test(name) && ref === GITHUB_SHA);
    if (isOfJob && isCopy) return { kind: "skipped", reason: "own-change" };
    const commits = at(payload, "commits");
    const pushed = Array.isArray(commits) && !isOfJob ? commits.map((commit) => String(at(commit, "message"))) : [];
    // A tag or branch brings no commit, but somebody made it.
    if (!isBot && pushed.length === 0 && (at(payload, "created") === true || /^refs\/tags\//.test(branch)))
      return undefined;
    const told = at(payload, "head_commit.message", "commit.commit.message") ?? at(head, "head_commit.message");
    const message = told ?? (isOfJob ? at(await read("commits/{ref}", { ref }), "commit.message") : "");
    if (typeof message !== "string") throw new Error("GitHub's response has no message");
    // One push can bring what people and agents did.
    const brought = pushed.filter((one) => !isMerge(one));
    const isOwn = (brought.length > 0 ? brought : [message]).every((one) => jobsOf(one).length > 0);
    if (!isOwn || (!isOfJob && (await isOfFork(String(ref), run)))) return undefined;
    return { kind: "skipped", reason: "own-change" };
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "head", branch, detail: messageOf(error) };
  }
}

async function isOfFork(ref: string, run: Run): Promise<boolean> {
  // Loaded here, because few events are about an agent's commit.
  const { isFromFork } = await import("./changes/find-section.ts");
  return isFromFork(ref, run);
}

/** Returns the first value at one of the paths of an object; `undefined` if there is none. */
function at(object: unknown, ...paths: string[]): unknown {
  const follow = (path: string) => path.split(".").reduce<unknown>((value, key) => Object(value)[key], object);
  return paths.map(follow).find((value) => value !== undefined && value !== null);
}
