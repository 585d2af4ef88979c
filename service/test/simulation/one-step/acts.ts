import type { MemoryGitHub } from "./github.ts";
import type { Act } from "./plan.ts";
import type { World } from "./world.ts";

/** Lets people do something, as far as there is something to do it to. */
export function doAct(act: Act, { gitHub, cache, timeline, latestJob, acts, threads }: World): void {
  if (act === "evict") cache.evict();
  else if (act === "delete-reply") {
    if (!threads.deleteReply()) return;
  } else if (!gitHub.asPerson(() => onGitHub(act, gitHub, latestJob(), timeline.now))) return;
  acts.push({ act, at: timeline.now });
}

function onGitHub(act: Act, gitHub: MemoryGitHub, job: string | undefined, now: number): boolean {
  const { remote, pulls } = gitHub;
  if (act === "push-main" || act === "push-main-shared") {
    const path = act === "push-main" ? `docs/people-${now}.md` : "docs/shared.md";
    gitHub.pushMain({ [path]: `People's line of ${now}\n` });
    return true;
  }
  if (act === "rename") {
    gitHub.rename(`docs-${gitHub.names.size}`);
    return true;
  }
  const branch = `agent/${job}`;
  const head = remote.heads.get(branch);
  const open = gitHub.openOf(branch);
  if (act === "reopen") {
    const last = pulls.findLast((pull) => pull.branch === branch);
    if (last?.state !== "closed" || head === undefined) return false;
    Object.assign(last, { state: "open", endedAt: null, head });
    return true;
  }
  if (head === undefined) return false;
  if (act === "push-branch" || act === "push-branch-shared") {
    const path = act === "push-branch" ? `docs/people-${now}.md` : "docs/shared.md";
    remote.commitTo(branch, { [path]: `People's line of ${now}\n` });
    return true;
  }
  if (act === "rewrite-branch") {
    const isMerged = pulls.findLast((pull) => pull.branch === branch)?.state === "merged";
    if (isMerged || remote.objects.isAncestor(head, remote.head("main"))) return false;
    remote.amend(branch, { [`docs/people-${now}.md`]: "Rewritten\n" });
    return true;
  }
  if (act === "delete-branch") {
    remote.deleteBranch(branch);
    return true;
  }
  if (act === "open-by-hand") return gitHub.openByHand(branch);
  if (open === undefined) return false;
  if (act === "close") {
    gitHub.end(open, "closed");
    return true;
  }
  if (remote.objects.merge(remote.head("main"), open.head) === undefined) return false;
  if (act === "merge" || act === "merge-and-delete") remote.merge(branch, gitHub.mergeMessage(open));
  else {
    const { message } = remote.objects.commit(open.head);
    remote.squash(
      branch,
      act === "squash" ? message.replace("\n", ` (#${open.number})\n`) : `${open.title} (#${open.number})\n`,
    );
    gitHub.end(open, "merged");
  }
  if (act === "merge-and-delete") remote.deleteBranch(branch);
  return true;
}
