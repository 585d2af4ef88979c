import type { Agent } from "../agents/agent.ts";
import type { AgentOptions } from "../agents/run-agent.ts";
import { errorMessage } from "../error-message.ts";
import { unknownBase } from "../git/infer-base.ts";
import { oneLine } from "../one-line.ts";
import { leftWorkNote } from "../pulls/commit-message.ts";
import type { SecretPatterns } from "../secret-patterns.ts";
import type { TurnHost } from "./turn-host.ts";

/** Work that an agent left in its clone, outside its worktree, and how it left its branch. */
export interface LeftWork {
  /** See `Worktree`. */
  changedFrom?: string | undefined;
  /** Whether the agent ended in the middle of a merge, a rebase or the like. Then it is partial, too. */
  isUnfinished?: boolean;
  /** The only branch or stash, now in the worktree, as a display name. Default: none. */
  taken?: string | undefined;
  /** Display names of work that is not in the worktree. */
  left: readonly string[];
  /** Why `left` may be incomplete. Default: it is complete. */
  unread?: string | undefined;
  /** Whether the worktree may contain a part of it. */
  isPartial: boolean;
}

/** The number of refs, worktrees and stashes that are named. */
const maxNamed = 10;

/**
 * Prints commits and files that are missing from the start, `HEAD` and the worktree. Ignores branches whose head is in the service's clone:
 * they are commits of the repository or of another job. If the worktree is unchanged and all work is on one branch on top of the start, or
 * in one stash, moves it into the worktree.
 *
 * If `HEAD` contains the start, the files are what the agent means; also if it rewrote the branch, such as by an amend or a rebase: what they
 * lack, it took back on purpose. After a checkout or a reset, such as to begin on main, they lack the job's earlier work only because main
 * does. So only what the agent changed since is its change: `base` is the newest commit of its history that the service's clone has. But a
 * reset to an earlier commit of the branch itself is meant, too. If nothing tells how it left the branch, it has no base that is known: `?`.
 */
const script = `
start=$1 objects=$2
run() { git --no-pager -c core.hooksPath=/dev/null -c core.fsmonitor=false "$@" </dev/null 2>/dev/null; }
ahead() { run rev-list --count --max-count=100 "$1" --not "$start" HEAD --remotes; }
known() (GIT_OBJECT_DIRECTORY=$objects; export GIT_OBJECT_DIRECTORY; exec git cat-file --batch-check 2>/dev/null)
contains() { run merge-base --is-ancestor "$2" "$1"; }
newest() { run rev-list --first-parent "$1" | known | sed -n '/ commit /{s/ .*//p;q;}'; }
find_base() {
  base= by= unknown=
  contains HEAD "$start" || unknown='?'
  [ -z "$unknown" ] || while read -r id subject; do
    contains "$id" "$start" && break
    by=$subject
  done <<END
$(run log --walk-reflogs --max-count=500 --format='%H %gs' HEAD)
END
  [ "$rebasing" = no ] || by=\${by:+checkout:}
  case $by in
  checkout:*|reset:*) base=$(newest HEAD); [ -z "$base" ] || unknown= ;;
  # These rewrite the branch.
  rebase*|pull*|'commit (amend)'*) unknown= ;;
  esac
  case $by in reset:*) contains "$start" "$base" && ! contains origin/HEAD "$base" && base= ;; esac
  echo "base \${unknown:-$base}"
}
if [ ! -d .git ]; then
  echo 'base ?'
  echo end
  exit
fi
# Fails if it cannot tell.
differs() { run diff --quiet --no-ext-diff --ignore-submodules "$1" --; case $? in 0) differs=no ;; 1) differs=yes ;; *) exit 1 ;; esac; }
rebasing=no
[ ! -e .git/rebase-merge ] && [ ! -e .git/rebase-apply ] || run symbolic-ref --quiet HEAD >/dev/null || rebasing=yes
find_base
differs "\${base:-$start}"
changed=$differs
if [ "$rebasing" = yes ] || run diff --no-ext-diff --no-textconv --diff-filter=U | grep -q '^..<<<<<<< '; then
  changed=yes
  echo unfinished
fi
[ "$changed" = yes ] || [ -z "$(run ls-files --others --exclude-standard --directory --no-empty-directory | head -c 1)" ] || changed=yes
refs=$(run for-each-ref --count=501 --format='%(objectname) %(refname)' refs/heads refs/stash) || exit 1
known=$(printf '%s\\n' "$refs" | cut -d ' ' -f 1 | known) || exit 1
total=0 tree= seen=
if [ -e .git/worktrees ]; then
  trees=$(run worktree list --porcelain | head -n 200) || exit 1
  while IFS= read -r line; do
    case $line in
    'worktree '*) tree=\${line#worktree } ;;
    'HEAD '*)
      [ "$tree" -ef . ] && continue
      id=\${line#HEAD } count=$(ahead "$id") || exit 1
      dirty=$(run -C "$tree" status --porcelain | head -c 1)
      seen="$seen $id"
      [ "$count" = 0 ] && [ -z "$dirty" ] || { total=$((total + 2)); printf 'worktree %s %s\\n' "$count" "\${tree##*/}"; } ;;
    esac
  done <<END
$trees
END
fi
examined=0
while read -r id ref; do
  case "$known" in *"$id missing"*) ;; *) continue ;; esac
  case "$seen" in *"$id"*) continue ;; esac
  seen="$seen $id" examined=$((examined + 1))
  [ "$examined" -gt 20 ] && exit 1
  count=$(ahead "$id") || exit 1
  [ "$count" = 0 ] && continue
  kind=branch name=\${ref#refs/heads/}
  if [ "$ref" = refs/stash ]; then
    kind=stash name=- count=$(run rev-list --walk-reflogs --count --max-count=100 refs/stash) || count=1
    [ "$count" -gt 1 ] && total=$((total + 1))
  fi
  # Of a stash, files that were not tracked are a commit of their own.
  if [ "$kind" = branch ] || ! run rev-parse --quiet --verify "$id^3" >/dev/null; then
    differs "$id"
    [ "$differs" = no ] && continue
  fi
  total=$((total + 1)) only=$id onlykind=$kind
  printf '%s %s %s\\n' "$kind" "$count" "$name"
done <<END
$refs
END
[ "$(printf '%s\\n' "$refs" | wc -l)" -gt 500 ] && exit 1
if [ "$changed" = no ] && [ "$total" = 1 ]; then
  if [ "$onlykind" = stash ]; then
    echo taking
    run stash apply "$only" >/dev/null || exit 1
    echo taken
  elif contains "$only" "$start" || [ -n "$(newest "$only")" ]; then
    echo taking
    run checkout --quiet --force --detach "$only" >/dev/null || exit 1
    find_base
    echo taken
  fi
fi
echo end
`;

/**
 * Runs a program that reads an agent's clone, with the agent's permissions, because the clone's configuration can make Git run any program
 * or hang. Returns its output.
 *
 * @param options - of the agent's run
 */
export async function readAsAgent(
  agent: Agent,
  command: ReturnType<Agent["command"]>,
  options: AgentOptions,
  { runAgent }: Pick<TurnHost, "runAgent">,
): Promise<string> {
  const reader: Agent = {
    ...agent,
    command: () => command,
    programs: [...agent.programs, "git"],
    eventFormat: undefined,
    readReport: (stdout) => ({ message: stdout, error: undefined }),
  };
  const { message = "" } = await runAgent(reader, { ...options, logFile: "/dev/null", onLimitExceeded: () => {} });
  return message;
}

/**
 * Looks for work outside the worktree, and moves it into the worktree if the agent did nothing else.
 *
 * @param head - the commit that the agent started from
 * @param options - of the agent's run
 * @param patterns - redacted from names
 */
export async function takeLeftWork(
  agent: Agent,
  head: string,
  options: AgentOptions,
  host: Pick<TurnHost, "runAgent">,
  patterns: SecretPatterns,
): Promise<LeftWork> {
  const command = { file: "/bin/sh", args: ["-c", script, "sh", head, options.objects] };
  try {
    const message = await readAsAgent(agent, command, options, host);
    const start = message.slice(0, maxOutputLength);
    // An incomplete line could contain part of a secret.
    return readLeftWork(await patterns.remove(start.slice(0, start.lastIndexOf("\n") + 1)));
  } catch (error) {
    // The agent has run: keep what is in its worktree.
    return { left: [], unread: errorMessage(error), isPartial: false, changedFrom: unknownBase };
  }
}

/** In characters: more than the script prints. */
const maxOutputLength = 20_000;

/** Parses the script's output. Untrusted: the agent may have influenced it. */
export function readLeftWork(output: string): LeftWork {
  const lines = output.split("\n");
  const found = lines.flatMap((line) => {
    const [, kind, digits, name = ""] = /^(branch|stash|worktree) (\d{1,3}) (.+)$/s.exec(line) ?? [];
    if (kind === undefined) return [];
    const count = Number(digits);
    const commits = `${count >= 100 ? "100 or more" : count} ${count === 1 ? "commit" : "commits"}`;
    if (kind === "stash") return count === 1 ? "a stash" : `${count} stashes`;
    return `${kind === "branch" ? "the branch" : "a worktree of its own,"} ${oneLine(name)} with ${commits}`;
  });
  const isTaken = lines.includes("taken");
  const isUnfinished = lines.includes("unfinished");
  const more = found.length > maxNamed ? [`${found.length - maxNamed} more`] : [];
  return {
    taken: isTaken ? found[0] : undefined,
    left: isTaken ? [] : [...found.slice(0, maxNamed), ...more],
    unread: lines.includes("end") ? undefined : "Git could not read all of it in time, or not at all",
    isPartial: isUnfinished || (lines.includes("taking") && !isTaken),
    ...(isUnfinished && { isUnfinished }),
    changedFrom: readBase(lines),
  };
}

/** Returns the last base; `undefined` if the files are a change of what the agent started from. */
function readBase(lines: readonly string[]): string | undefined {
  const base = lines.flatMap((line) => /^base ([0-9a-f]*|\?)$/.exec(line)?.[1] ?? []).at(-1) ?? "?";
  return base === "?" ? unknownBase : base || undefined;
}

/** Describes work left outside the worktree; `undefined` if there is none. */
export function describeLeftWork({ left, unread }: LeftWork): string | undefined {
  if (left.length === 0 && unread === undefined) return undefined;
  const named = left.length === 0 ? "" : `: ${left.join(", ")}`;
  const more = unread === undefined ? "" : ` (${unread})`;
  return left.length === 0
    ? `The agent's clone may have branches, stashes or worktrees of its own, which are not in this change${more}`
    : `${leftWorkNote}${named}${more}`;
}

/** Returns why a turn with an unchanged or unfinished worktree fails, to continue a sentence; `undefined` if no work was left elsewhere. */
export function lostWork(work: LeftWork): string | undefined {
  const { left, unread, isPartial, isUnfinished } = work;
  if (isUnfinished)
    return "the agent ended in the middle of a merge, a rebase or the like, which it neither completed nor aborted";
  if (left.length === 0 && unread === undefined && !isPartial) return undefined;
  const where = left.length === 0 ? "may have left its work" : `left its work`;
  const names = left.length === 0 ? "" : ` (${left.join(", ")})`;
  const why = unread === undefined ? "" : `. ${unread}`;
  return `the agent changed nothing in its worktree, and ${where} elsewhere in its clone, which is deleted${names}${why}. Tell it to leave its changes in the files of the branch that is checked out, or on one branch`;
}
