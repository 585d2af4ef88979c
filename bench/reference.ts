import { execFileSync } from "node:child_process";
import { resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");

/** Stands for the last release as long as there is none: a commit with a small bundle that does all that a step must. */
const beforeReleases = "b263c5fc6824dfbc7178e842dd9e48ff8607ee01";

/** An earlier bundle of the action, which shows how much a step's time has grown. */
export interface Reference {
  name: string;
  /** Its main file. */
  file: string;
}

/** Returns the tag of the last release; without one, a fixed commit. */
export function defaultReference(): string {
  const tags = git("tag", "--list", "v*.*.*", "--sort=-version:refname").toString().split("\n");
  return tags[0] || beforeReleases;
}

/**
 * Extracts the bundle that is committed at a ref. At a release it is what the sources build; other commits may have an older
 * one.
 *
 * @param folder - an empty folder
 * @throws if the repository lacks the ref, as a shallow clone may
 */
export function extractReference(ref: string, folder: string): Reference {
  const commit = shortCommit(ref);
  execFileSync("tar", ["-x", "-C", folder], { input: git("archive", "--format=tar", commit, "dist") });
  return { name: ref.startsWith(commit) ? commit : `${ref} (${commit})`, file: resolve(folder, "dist/index.js") };
}

function shortCommit(ref: string): string {
  try {
    return git("rev-parse", "--short", "--verify", "--quiet", `${ref}^{commit}`).toString().trim();
  } catch {
    throw new Error(`the repository has no ${ref} to compare with: fetch it, or name another ref with --against`);
  }
}

function git(...args: string[]): Buffer {
  return execFileSync("git", args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
}
