import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ChangedFile } from "./changed-files.ts";
import { readContents } from "./changed-files.ts";
import type { Git } from "./git.ts";

/** The beginning of Git LFS's stand-in for a file. Its documentation: "Git LFS Specification", "The Pointer". */
const pointerStart = "version https://git-lfs.github.com/spec/v1\n";

/**
 * Returns the filters of those files that should have passed one, by their paths: the service runs none, so what an agent wrote is pushed
 * as it is. A pointer of Git LFS has passed its filter.
 *
 * @param head - the commit with the files
 */
export async function findUnfiltered(
  git: Git,
  head: string,
  files: readonly ChangedFile[],
): Promise<ReadonlyMap<string, string>> {
  const changed = files.filter(({ path, after }) => after !== undefined && !/[\n\ufffd]/.test(path));
  const attributes = await findAttributes(git, head, changed);
  if (attributes.length === 0) return new Map();
  const filters = await readFilters(git, attributes, changed);
  const contents = readContents(
    git,
    changed.flatMap(({ path, after }) => (filters.get(path) === "lfs" ? (after ?? []) : [])),
  );
  const pointers = new Set<string>();
  for await (const { id, content } of contents) if (content.startsWith(pointerStart)) pointers.add(id);
  for (const { path, after = "" } of changed) if (pointers.has(after)) filters.delete(path);
  return filters;
}

/** Returns the files of attributes that apply to some files, if any of them names a filter. */
async function findAttributes(git: Git, head: string, files: readonly ChangedFile[]) {
  const folders = new Set<string>();
  for (const { path } of files)
    for (let folder = dirname(path); !folders.has(folder); folder = dirname(folder)) folders.add(folder);
  const paths = [...folders].map((folder) => (folder === "." ? ".gitattributes" : `${folder}/.gitattributes`));
  const input = paths.map((path) => `${head}:${path}\n`).join("");
  const found =
    paths.length === 0 ? "" : await git.run(["cat-file", "--batch-check=%(objectname) %(objecttype)"], { input });
  const attributes = found.split("\n").flatMap((line, index) => {
    const [, id] = /^(\w+) blob$/.exec(line) ?? [];
    return id === undefined ? [] : [{ path: paths[index] ?? "", id }];
  });
  for await (const { content } of readContents(
    git,
    attributes.map(({ id }) => id),
  ))
    if (content.includes("filter")) return attributes;
  return [];
}

/** Asks Git with an index that has only the files of attributes. */
async function readFilters(
  git: Git,
  attributes: readonly { path: string; id: string }[],
  files: readonly ChangedFile[],
): Promise<Map<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), "agent-job-index-"));
  try {
    const environment = { GIT_INDEX_FILE: join(folder, "index") };
    const entries = attributes.map(({ path, id }) => `100644 ${id}\t${path}\0`).join("");
    await git.run(["update-index", "-z", "--index-info"], { environment, input: entries });
    const input = files.map(({ path }) => `${path}\0`).join("");
    const output = await git.run(["check-attr", "--cached", "-z", "--stdin", "filter"], { environment, input });
    const fields = output.split("\0");
    const filters = new Map<string, string>();
    for (let index = 0; index + 2 < fields.length; index += 3) {
      const [path = "", , filter = ""] = fields.slice(index, index + 3);
      if (!["unspecified", "unset", "set"].includes(filter)) filters.set(path, filter);
    }
    return filters;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
