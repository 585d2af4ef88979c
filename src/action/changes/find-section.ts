import { messageOf } from "../../client/errors.ts";
import { message } from "../../runner-kit/text.ts";
import { excerpt } from "../../runner-kit/untrusted.ts";
import { describeCounts, shortRef } from "../report/format.ts";
import { type BlockedResult, cancelledBeforeSending, type RunResult } from "../result.ts";
import { connectRepository, type Run } from "../run.ts";
import { serverUrl } from "../runner/environment.ts";
import type { ChangesSettings } from "../settings.ts";
import { withoutMergesOf } from "./own-merges.ts";
import { compareTold, continuesTold, findRange, type RememberedChanges } from "./range.ts";
import { type ChangedFile, type Changes, type Comparison, readingLimits, repositoryOf } from "./repository.ts";
import { formatChanges } from "./section.ts";

/** Returns the section on what changed, empty if there is nothing to compare; or why nothing is sent. Never rejects. */
export async function findSection(
  settings: ChangesSettings,
  remembered: RememberedChanges,
  run: Run,
): Promise<{ section: string } | RunResult> {
  const { state, log, ports } = run;
  // What was read before another run went on with the session.
  state.changes = undefined;
  try {
    const changes = await readChanges(settings, remembered, run);
    if (changes && "kind" in changes) return changes;
    state.changes = changes;
    if (!changes) {
      const { GITHUB_EVENT_NAME: name = "" } = ports.environment;
      log.line(`Changes: the ${name} event has nothing to compare, so the prompt is sent without any`);
      return { section: "" };
    }
    const { base, files, isTruncated, paths, url } = changes;
    // If GitHub did not list all files, another one may count.
    if (files.length === 0 && !isTruncated) {
      const where = paths.length === 0 ? "" : ` in ${excerpt(paths.join(", "), 300)}`;
      log.line(`No changes${where} since ${shortRef(base)}: nothing to do`);
      if (changes.otherFiles > 0) await warnOfUnused(settings, changes, run);
      return { kind: "skipped", reason: "nothing-new" };
    }
    log.line(`Changes since ${shortRef(base)}: ${describeCounts(changes)} (${url})`);
    return { section: formatChanges(changes, settings.withPatches) };
  } catch (error) {
    if (ports.signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "changes", detail: messageOf(error) };
  }
}

/** Warns of patterns that match no file that there is: what they were meant for never counts, or only as the commit of a submodule. */
async function warnOfUnused({ paths }: ChangesSettings, { head }: Changes, run: Run): Promise<void> {
  const all = await connectRepository(run, readingLimits)
    .then((reader) => repositoryOf(reader).allPaths(head))
    .catch(() => undefined);
  if (!all || !paths) return;
  const into = all.submodules.flatMap(paths.into);
  const unused = paths
    .unused([...all.files, ...all.submodules])
    .filter((one) => !one.startsWith("!") && !into.includes(one));
  if (unused.length > 0)
    run.log.warning(message`
      A pattern matches no file
      ${excerpt(unused.join(", "), 300)} in paths matches no file of the repository, so that no change counts for it.
      Check how it is written. Names are case-sensitive.`);
}

/** Returns whether GitHub says that a fork brought a commit. Without an answer, it was none. Never rejects. */
export async function isFromFork(ref: string, run: Run): Promise<boolean> {
  const reader = await connectRepository(run).catch(() => undefined);
  if (reader === undefined) return false;
  return repositoryOf(reader)
    .isFromFork(ref)
    .catch(() => false);
}

/** Reads what changed, without a checkout; `undefined` if there is nothing to compare. @throws if GitHub cannot be asked */
async function readChanges(
  { since, paths }: ChangesSettings,
  remembered: RememberedChanges,
  run: Run,
): Promise<Changes | BlockedResult | undefined> {
  const { environment } = run.ports;
  const repository = repositoryOf(await connectRepository(run, readingLimits));
  const { GITHUB_EVENT_NAME: event, GITHUB_SHA: sha = "" } = environment;
  // The commit of this event is a merge that GitHub makes to try it.
  const told = event === "pull_request" ? undefined : await compareTold(remembered, sha, repository);
  const found = await findRange(since, remembered, told, repository, run);
  if (!found || "kind" in found) return found;
  const range = await repository.withAllCommits(found);
  const segments = await withoutMergesOf(remembered.ownPullRequests, remembered.ownJobs, range, repository, run);
  const parts = segments
    ? await Promise.all(
        segments.map(async ({ base, head }) => repository.withAllCommits(await repository.compare(base, head))),
      )
    : [range];
  const { base, head, root } = range;
  if (root) parts.unshift({ ...range, commits: [root], commitCount: 1, files: await repository.filesOf(root.sha) });

  const files = mergeFiles(parts);
  const counting = files.filter(
    ({ name, previousName, isSubmodule }) =>
      !paths ||
      paths.matches(name) ||
      (previousName !== undefined && paths.matches(previousName)) ||
      (isSubmodule && paths.into(name).length > 0),
  );
  // A thread goes on with a job of the session, and a pull request is no range of its branch.
  const isOfSession = remembered.isOfSession && head === sha;
  const name = environment.GITHUB_REPOSITORY ?? "";
  return {
    repository: name,
    base,
    head,
    root,
    continues: isOfSession && (await continuesTold(base, told, repository)),
    url: `${serverUrl(environment)}/${name}/compare/${encodePath(base)}...${encodePath(head)}`,
    commitCount: parts.reduce((sum, { commitCount }) => sum + commitCount, 0),
    commits: parts.flatMap(({ commits }) => commits),
    files: counting,
    otherFiles: files.length - counting.length,
    isTruncated: parts.some(({ isTruncated }) => isTruncated),
    isUnlisted: parts.some(({ isUnlisted }) => isUnlisted),
    paths: paths?.patterns ?? [],
  };
}

function encodePath(ref: string): string {
  return ref.split("/").map(encodeURIComponent).join("/");
}

function mergeFiles(parts: readonly Comparison[]): ChangedFile[] {
  const files = new Map<string, ChangedFile>();
  for (const file of parts.flatMap((part) => part.files)) {
    const before = files.get(file.name);
    files.set(file.name, {
      ...file,
      previousName: before?.previousName ?? file.previousName,
      additions: (before?.additions ?? 0) + file.additions,
      deletions: (before?.deletions ?? 0) + file.deletions,
      patch: [before?.patch, file.patch].filter((patch) => patch !== undefined).join("\n") || undefined,
    });
  }
  return [...files.values()];
}
