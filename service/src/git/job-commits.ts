import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clone } from "./clone.ts";
import { type Git, GitError } from "./git.ts";
import { type DatedCommit, resolveCommit } from "./history.ts";

/** The last commit made for a job. */
export interface JobCommit {
  commit: string;
  parent: string;
  message: string;
}

/** The refs that keep the commits of jobs in a clone, even after their branches are deleted. */
const keptRefs = ["refs/jobs", "refs/earlier"];

/** Returns the last commit made for a job, whether or not it was pushed. */
export async function lastCommitOf({ git }: Pick<Clone, "git">, jobId: string): Promise<JobCommit | undefined> {
  const format = "--format=%(refname)%00%(objectname)%00%(parent)%00%(contents)%00";
  const output = await git.run(["for-each-ref", format, `refs/jobs/${jobId}`]);
  const [ref, commit = "", parent = "", message = ""] = output.split("\0");
  return ref === `refs/jobs/${jobId}` ? { commit, parent, message } : undefined;
}

/**
 * Records a commit as the last one of a job.
 *
 * @param earlier - an earlier commit of the job that the clone has to keep too, because this one does not contain it
 */
export async function recordCommit({ git }: Clone, jobId: string, commit: string, earlier?: string): Promise<void> {
  const kept = earlier === undefined ? "" : `update refs/earlier/${jobId}/${earlier} ${earlier}\n`;
  await git.run(["update-ref", "--stdin"], { input: `update refs/jobs/${jobId} ${commit}\n${kept}` });
}

/** Lets the clone forget the commits of jobs. Packing removes them two weeks later, unless a branch has them. */
export async function forgetJobs(clone: Clone, jobIds: readonly string[]): Promise<void> {
  const forgotten = new Set(jobIds);
  const refs = (await refsOfJobs(clone)).filter((ref) => forgotten.has(jobOf(ref)));
  const input = refs.map((ref) => `delete ${ref}\n`).join("");
  if (input !== "") await clone.updateRefs(() => clone.git.run(["update-ref", "--stdin"], { input }));
}

/** Returns the ids of the jobs that the clone has commits of. */
export async function jobIds(clone: Clone): Promise<string[]> {
  return [...new Set((await refsOfJobs(clone)).map(jobOf))].filter((id) => id !== "");
}

async function refsOfJobs({ git }: Clone): Promise<string[]> {
  return (await git.run(["for-each-ref", "--format=%(refname)", ...keptRefs])).split("\n");
}

const jobOf = (ref: string): string => ref.split("/")[2] ?? "";

/** In bytes. A database, a ref or a cache keeps it, and a change can be as large as `--largest-change-mb` says. */
export const maxPackedBytes = 50_000_000;

/** The first line: the id of the commit, and how many bytes its text has. The difference to its parent follows that. */
const firstLine = /^agent-work ([0-9a-f]{40,64}) (\d{1,9})\n/;

/** The text of a commit that was packed, of which each character is a byte. */
interface Packed {
  commit: string;
  text: string;
  diff: string;
}

/** Prints the text of a commit, unless that has a signature or another encoding, and its id. */
const commitFormat = "tree %T%nparent %P%nauthor %an <%ae> %ad%ncommitter %cn <%ce> %cd%n%n%B%x00%H%x00";

/** Packs the last commit of a job as text, in which a host finds secrets as it does in a push; see `Repository.packCommit`. */
export async function packCommit(git: Git, jobId: string): Promise<Uint8Array> {
  const options = { encoding: "latin1", maxBytes: maxPackedBytes + 1 } as const;
  const diff = ["-p", "--binary", "--full-index", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"];
  const log = ["log", "-1", "--no-show-signature", "--date=raw", `--format=${commitFormat}`, ...diff];
  const printed = await git.run([...log, `refs/jobs/${jobId}`, "--"], options);
  const [shown = "", commit = ""] = printed.split("\0", 2);
  const text = idOf(shown, commit) === commit ? shown : await git.run(["cat-file", "commit", commit], options);
  const change = printed.slice(shown.length + commit.length + 2).trimStart();
  const packed = Buffer.from(`agent-work ${commit} ${text.length}\n${text}${change}`, "latin1");
  if (packed.length > maxPackedBytes) throw new Error(`it has more than ${maxPackedBytes / 1_000_000} MB`);
  return packed;
}

/** Returns the id of a commit with a text, of which each character is a byte. @param like - an id of the same kind */
function idOf(text: string, like: string): string {
  const hash = createHash(like.length === 64 ? "sha256" : "sha1");
  return hash.update(`commit ${text.length}\0${text}`, "latin1").digest("hex");
}

function parsePacked(packed: Uint8Array): Packed | undefined {
  const all = Buffer.from(packed).toString("latin1");
  const [line = "", commit, size] = firstLine.exec(all) ?? [];
  if (commit === undefined) return undefined;
  const end = line.length + Number(size);
  return { commit, text: all.slice(line.length, end), diff: all.slice(end) };
}

/** Returns the commit that a pack says it has, and when it was made; `undefined` if it is none. Untrusted. */
export function readPacked(packed: Uint8Array): DatedCommit | undefined {
  const found = parsePacked(packed);
  const text = Buffer.from(found?.text ?? "", "latin1").toString();
  const seconds = /^committer .* (\d{1,12}) [+-]\d{4}$/m.exec(text)?.[1];
  if (found === undefined || seconds === undefined) return undefined;
  return { commit: found.commit, message: text.slice(text.indexOf("\n\n") + 2), at: Number(seconds) * 1000 };
}

/** Packs a commit message for `readPacked`. It has no content and cannot be restored. */
export function packMessage(message: string, at: number): Uint8Array {
  const text = Buffer.from(`committer agent-work <agent-work@localhost> ${Math.floor(at / 1000)} +0000\n\n${message}`);
  return Buffer.concat([Buffer.from(`agent-work ${"0".repeat(40)} ${text.length}\n`), text]);
}

/** Restores the last commit of a job from a pack of `packCommit`; see `Repository.unpackCommit`. */
export async function unpackCommit(clone: Clone, jobId: string, packed: Uint8Array): Promise<JobCommit | undefined> {
  const { git } = clone;
  const found = parsePacked(packed);
  const [, tree] = /^tree ([0-9a-f]{40,64})$/m.exec(found?.text ?? "") ?? [];
  const [, parent] = /^parent ([0-9a-f]{40,64})$/m.exec(found?.text ?? "") ?? [];
  if (found === undefined || tree === undefined || parent === undefined) return undefined;
  if ((await resolveCommit(git, parent)) === undefined) await clone.fetchCommit(parent);
  // Not in the clone, where only what belongs there is left.
  const environment = { GIT_INDEX_FILE: join(dirname(clone.folder), `${jobId}.index`) };
  try {
    await git.run(["read-tree", parent], { environment });
    const apply = ["apply", "--cached", "--binary", "--whitespace=nowarn", "-"];
    const bytes = (text: string): Buffer => Buffer.from(text, "latin1");
    if (found.diff !== "") await git.run(apply, { environment, input: bytes(found.diff) });
    if ((await git.run(["write-tree"], { environment })).trim() !== tree) return undefined;
    const made = await git.run(["hash-object", "-t", "commit", "-w", "--stdin"], { input: bytes(found.text) });
    if (made.trim() !== found.commit) return undefined;
    await recordCommit(clone, jobId, found.commit);
  } catch (error) {
    // If Git did not run to its end, the reason is not the pack.
    if (error instanceof GitError && error.exitCode !== null) return undefined;
    throw error;
  } finally {
    await rm(environment.GIT_INDEX_FILE, { force: true });
  }
  return lastCommitOf(clone, jobId);
}
