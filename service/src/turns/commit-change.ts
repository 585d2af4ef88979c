import { errorMessage } from "../error-message.ts";
import { showPath } from "../git/byte-paths.ts";
import { ChangeRefused, describeLeftOut, type ToldChange, type Worktree } from "../git/commit-worktree.ts";
import type { Start } from "../git/find-start.ts";
import type { LeftOut } from "../git/left-out.ts";
import type { Repository } from "../git/repository.ts";
import type { Machine } from "../machine.ts";
import type { StoredJob, Turn } from "../model.ts";
import { namesOf, oneLine } from "../one-line.ts";
import { isResourceExhausted } from "../processes/resource-exhausted.ts";
import { commitMessage } from "../pulls/commit-message.ts";
import type { Committer } from "../pulls/committers.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import { withTrailers } from "../pulls/turn-trailers.ts";
import { SecretPatterns } from "../secret-patterns.ts";
import type { JobDirectory } from "../service-folder.ts";
import { hourMs } from "../time.ts";
import { type CheckPorts, checkChange } from "./check-change.ts";
import { pauseAfter } from "./postponements.ts";
import type { TurnDeadline } from "./turn-deadline.ts";
import { titleOf } from "./turn-name.ts";

export interface CommitPorts extends CheckPorts {
  repository: Pick<Repository, "commit" | "withOwnFiles"> & CheckPorts["repository"];
  /** A larger change fails its turn. */
  largestChangeBytes: number;
  /** Aborts on a request to stop; its reason is the turn's failure. Default: never. */
  stop?: AbortSignal | undefined;
}

interface CommitContext extends CommitPorts {
  job: Pick<StoredJob, "session">;
  pullRequests?: Pick<PullRequests, "repository">;
  /** The prefix of commit titles. Default: none. */
  titlePrefix?: string | undefined;
  commands?: { setup?: string | undefined } | undefined;
  directory: Pick<JobDirectory, "setup">;
  committer?: Pick<Committer, "author"> | undefined;
  machine: Pick<Machine, "now" | "sleep">;
  /** Aborts when the service stops, or another worker has taken the turn over. */
  signal: AbortSignal;
  log: (text: string) => void;
}

/** The parts of an agent run that its commit depends on. */
export interface MadeChange {
  /** The messages of the agent's own commits, oldest first. */
  ownMessages: readonly string[];
  /** The agent's last message. */
  message: string | undefined;
  /** Sentences about how the agent ended, for people. */
  notes: readonly string[];
  /** Why the turn fails if the worktree is unchanged. Default: it does not fail. */
  lost?: string | undefined;
}

type Change = [
  turn: Turn,
  worktree: Worktree,
  start: Start,
  attempt: MadeChange,
  context: CommitContext,
  startDeadline: () => TurnDeadline,
];

export interface CommittedChange {
  /** `undefined` if nothing was changed. */
  commit: string | undefined;
  /** For people: changes that were left out of an otherwise empty change. */
  unpublished: string;
  /** Whether the author and trailers are final, so that the commit is pushed unmodified. */
  isFinal: boolean;
}

/**
 * Commits and checks an agent's change. If a resource such as disk space is missing, retries for up to an hour.
 *
 * @throws with the turn's failure as the message
 */
export function commitChange(...change: Change): Promise<CommittedChange> {
  const { signal, stop } = change[4];
  const end = stop === undefined ? signal : AbortSignal.any([signal, stop]);
  return tryForAnHour(() => commitOnce(...change), change[4], end);
}

/**
 * Does what an agent's change is lost without. If a resource such as disk space is missing, tries again for up to an hour.
 *
 * @param end - ends a pause
 */
export async function tryForAnHour<T>(
  use: () => Promise<T>,
  { machine, signal, log }: Pick<CommitContext, "machine" | "signal" | "log">,
  end = signal,
): Promise<T> {
  const startedAt = machine.now();
  for (let count = 0; ; count++) {
    try {
      return await use();
    } catch (error) {
      if (!isResourceExhausted(error)) throw error;
      const isOver = machine.now() - startedAt >= hourMs || signal.aborted;
      if (count === 0 || isOver)
        log(
          `The agent has run, but its change cannot be committed now. ${isOver ? "It is run again." : `That is tried again for an hour: ${errorMessage(error)}`}`,
        );
      if (isOver) throw error;
    }
    await machine.sleep(pauseAfter(count), end);
  }
}

async function commitOnce(
  ...[turn, worktree, start, { ownMessages, message: answer = "", notes, lost }, context, startDeadline]: Change
): Promise<CommittedChange> {
  using deadline = startDeadline();
  const { repository, largestChangeBytes: maxBytes, only, commands, directory, stop, log } = context;
  const patterns = new SecretPatterns(context.secrets ?? []);
  const title = await titleOf(turn, context);
  const messageWith = ({ leftOut, takenBack = [], notes: ofChange = [] }: ToldChange): string => {
    const told = {
      notes: [...(start.lacks ?? []).map(oneLine), ...notes, ...ofChange.map(oneLine), ...leftOut.map(describe)],
      takenBack: takenBack.map(oneLine),
    };
    return withTrailers(commitMessage(turn, ownMessages, context.job, told, title), author?.trailers ?? []);
  };
  // A change based on another commit's files is rebased later, as a commit of the service.
  const author =
    (start.instructed ?? worktree.changedFrom) === undefined ? await context.committer?.author() : undefined;
  const lent = commands?.setup === undefined ? undefined : directory.setup.files;
  const options = { maxBytes, signal: deadline.signal, only, lent, by: author?.by };
  try {
    const {
      commit: made,
      leftOut,
      takenBack = [],
      notes: ofChange = [],
      returned = [],
    } = await repository.commit(worktree, messageWith, options);
    for (const note of ofChange) log(await patterns.remove(oneLine(note)));
    if (returned.length > 0)
      log(
        `These files of --setup are no part of the change, although no .gitignore names them any longer: ${namesOf(returned.map(oneLine))}`,
      );
    // Redact before cutting: a cut could leave part of a secret.
    const names = namesOf((await patterns.remove(takenBack.join("\0"))).split("\0").map(oneLine));
    if (made === undefined && takenBack.length > 0)
      throw new ChangeRefused(`the agent changed only files that --only does not allow: ${names}`);
    if (takenBack.length > 0) log(`Changes of files that --only does not allow are taken back: ${names}`);
    const onTop = (more: readonly LeftOut[]): string =>
      messageWith({ leftOut: [...leftOut, ...more], takenBack, notes: ofChange });
    const { commit, leftOut: unfit } = made
      ? await onTopOf(start, made, repository, onTop)
      : { commit: undefined, leftOut: [] };
    for (const one of [...leftOut, ...unfit]) log(await patterns.remove(describe(one)));
    // In full: the message contains only the beginning of each, with invisible characters.
    const own = [...ownMessages, ...takenBack, ...leftOut.map(({ path }) => path), ...ofChange].join("\n");
    const texts = {
      "the message of the commit": `${messageWith({ leftOut, takenBack })}\n${own}`,
      "the agent's last message": answer,
    };
    if (commit === undefined && lost !== undefined) throw new ChangeRefused(lost);
    if (commit !== undefined) await checkChange(context, start.head, commit, texts, log);
    const told = [...ofChange.map(oneLine), ...leftOut.map(describe)].join("\n");
    const unpublished = commit === undefined ? await patterns.remove(told) : "";
    return { commit, unpublished, isFinal: author !== undefined };
  } catch (error) {
    if (stop?.aborted) throw new Error(String(stop.reason), { cause: error });
    if (deadline.isOver)
      throw new ChangeRefused(
        "Git takes longer for the change than is left of --time-limit-minutes: patterns in a .gitignore or .gitattributes may be what takes it so long",
        { cause: error },
      );
    throw error;
  }
}

const describe = ({ path, why }: LeftOut): string => `Left out: ${oneLine(path)}, because ${why}.`;

/** Rebases the agent's change onto its branch, without the project files that were lent to it. */
async function onTopOf(
  start: Start,
  made: string,
  repository: CommitPorts["repository"],
  messageWith: (leftOut: readonly LeftOut[]) => string,
): Promise<{ commit: string | undefined; leftOut: LeftOut[] }> {
  if (start.instructed === undefined) return { commit: made, leftOut: [] };
  const why = `it instructs agents, who had the project's own, which differs from the one on ${start.targetBranch}`;
  const describeAll = (paths: readonly string[]): LeftOut[] => paths.map((path) => ({ path: showPath(path), why }));
  const { commit, leftOut } = await repository.withOwnFiles(made, start, (paths) => messageWith(describeAll(paths)));
  if (commit === start.head && leftOut.length > 0)
    throw new ChangeRefused(`nothing of the change can be published: ${describeLeftOut(describeAll(leftOut))}`);
  return { commit: commit === start.head ? undefined : commit, leftOut: describeAll(leftOut) };
}
