import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clone } from "./clone.ts";
import { type Git, GitError } from "./git.ts";
import { resolveCommit } from "./history.ts";

/** The last commit made for a job. */
export interface JobCommit {
  commit: string;
  parent: string;
  message: string;
}

/** The refs that keep the commits of jobs in a clone, even after their branches are deleted. */
const keptRefs = ["refs/jobs", "refs/earlier"];

/** Returns the last commit made for a job, whether or not it was pushed. */
export async function lastCommitOf({ git }: Clone, jobId: string): Promise<JobCommit | undefined> {
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

/** In bytes. A database or a cache keeps it, and a change can be as large as `--largest-change-mb` says. */
const maxBundleBytes = 20_000_000;

/** Packs the last commit of a job; see `Repository.bundle`. */
export async function bundle(git: Git, jobId: string): Promise<Uint8Array> {
  const ref = `refs/jobs/${jobId}`;
  const args = ["bundle", "create", "--quiet", "-", ref, `^${ref}^`];
  const packed = Buffer.from(await git.run(args, { encoding: "latin1", maxBytes: maxBundleBytes + 1 }), "latin1");
  if (packed.length > maxBundleBytes) throw new Error(`it has more than ${maxBundleBytes / 1_000_000} MB`);
  return packed;
}

/** Restores the last commit of a job from a bundle; see `Repository.unbundle`. */
export async function unbundle(clone: Clone, jobId: string, packed: Uint8Array): Promise<JobCommit | undefined> {
  const { git } = clone;
  // Git's documentation, "gitformat-bundle": a line for each commit that the reader must have, then one for each ref.
  const header = Buffer.from(packed).toString("latin1", 0, 1000);
  const parent = /^-([0-9a-f]{40,64})/m.exec(header)?.[1];
  if (parent !== undefined && (await resolveCommit(git, parent)) === undefined) await clone.fetchCommit(parent);
  // Not in the clone, where only what belongs there is left.
  const file = join(dirname(clone.folder), `${jobId}.bundle`);
  try {
    await writeFile(file, packed);
    const [commit = ""] = (await git.run(["bundle", "unbundle", file])).split(" ");
    await recordCommit(clone, jobId, commit);
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  } finally {
    await rm(file, { force: true });
  }
  return lastCommitOf(clone, jobId);
}
