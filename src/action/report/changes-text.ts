import type { Changes } from "../changes/changes.ts";
import { count } from "./format.ts";

/** Shortens a full commit id as Git does; leaves other refs as they are. */
export function shortRef(ref: string): string {
  return /^[0-9a-f]{40}$/.test(ref) ? ref.slice(0, 7) : ref;
}

/** Describes how many files count, such as `8 of 12 files match paths`. */
export function describeFiles({ files, otherFiles, isTruncated, paths }: Changes): string {
  const all = `${isTruncated ? "more than " : ""}${count(files.length + otherFiles, "file")}`;
  return paths.length === 0 ? all : `${files.length} of ${all} ${files.length === 1 ? "matches" : "match"} paths`;
}
