import type { ChangedFile } from "../git/changed-files.ts";
import { ChangeRefused } from "../git/commit-worktree.ts";
import type { Repository } from "../git/repository.ts";
import type { Place } from "../loose-search.ts";
import { maxNames, namesOf, oneLine } from "../one-line.ts";
import type { PathPatterns } from "../pulls/path-patterns.ts";
import {
  changesPrograms,
  findProtected,
  isHarmless,
  mayHaveCode,
  mayNamePrograms,
  type ProtectedFilesKind,
  protectedPatterns,
  readPageCode,
} from "../pulls/protected-files.ts";
import { type Secret, SecretPatterns } from "../secret-patterns.ts";

export interface CheckPorts {
  repository: Pick<Repository, "changedFiles" | "readContents" | "paths">;
  /** Default: `flag`. */
  protectedFiles?: ProtectedFilesKind | undefined;
  /** Protected files besides `protectedPatterns`. Default: none. */
  moreProtected?: readonly string[] | undefined;
  /** The files that a change may touch. Default: all. */
  only?: PathPatterns | undefined;
  /** Secrets of the service, which are never pushed. Default: none. */
  secrets?: Iterable<Secret> | undefined;
}

/**
 * Returns the names of files that people should review first: protected files, and files that bypassed a Git filter.
 *
 * @param base - the commit whose files say what builds the pages
 */
export async function findFlaggedChanges(
  ports: CheckPorts,
  files: readonly ChangedFile[],
  base: string,
): Promise<string[]> {
  const unfiltered = files.flatMap(({ path, filter }) =>
    filter === undefined ? [] : `${path} (not passed through ${filter})`,
  );
  return [...(await findProtectedChanges(ports, files, base)).values(), ...unfiltered.map(oneLine)];
}

/** Returns the names of protected files in a change; empty if they are allowed. */
async function findProtectedChanges(
  ports: CheckPorts,
  files: readonly ChangedFile[],
  base: string,
): Promise<Map<string, string>> {
  if (ports.protectedFiles === "allow") return new Map();
  const { matching, programs } = await findRunning(ports, files);
  const others = files.filter(({ path }) => !matching.has(path));
  const pages = await findCodeInPages(ports, others, base);
  const name = (paths: Iterable<string>, what = ""): [string, string][] =>
    Array.from(paths, (path) => [path, `${oneLine(path)}${what}`]);
  return new Map([
    ...name(matching),
    ...name(programs, " (programs or addresses)"),
    ...name(pages, " (code or includes)"),
  ]);
}

/** Returns the files that today's options do not allow, by path, with their display names. */
export async function findRefused(
  ports: CheckPorts,
  files: readonly ChangedFile[],
  base: string,
): Promise<Map<string, string>> {
  const { protectedFiles, only } = ports;
  if (protectedFiles !== "refuse") return new Map();
  const refused = await findProtectedChanges(ports, files, base);
  // Files matched by --only are expected to change.
  for (const { path } of files)
    if (!isHarmless(path) && only?.matches(path) !== true && !refused.has(path)) refused.set(path, oneLine(path));
  return refused;
}

/** Returns the files that instruct agents or run code, judged by name or by content. */
export async function findRunning(
  { repository, moreProtected = [] }: CheckPorts,
  files: readonly ChangedFile[],
): Promise<{ matching: Set<string>; programs: string[] }> {
  const paths = files.map(({ path }) => path);
  const links = files.filter(({ isLink }) => isLink).map(({ path }) => path);
  const matching = new Set([...findProtected(paths, [...protectedPatterns, ...moreProtected]), ...links]);
  const others = files.filter(({ path }) => !matching.has(path));
  return { matching, programs: await changedCode(repository, others, mayNamePrograms, changesPrograms) };
}

/** Returns the pages in which a build would run or include what it did not before. */
async function findCodeInPages(
  { repository }: CheckPorts,
  files: readonly ChangedFile[],
  base: string,
): Promise<string[]> {
  if (!files.some(({ path }) => mayHaveCode(path))) return [];
  const { paths, submodules } = await repository.paths(base);
  const adds = await readPageCode(paths, async (found, what) => {
    // Others may have no name here that Git knows.
    const readable = found.filter((path) => /^[ -~]+$/.test(path) && !submodules.includes(path));
    if (readable.length < found.length) return true;
    for await (const { content } of repository.readContents(readable.map((path) => `${base}:${path}`)))
      if (what.test(content)) return true;
    return false;
  });
  return changedCode(repository, files, mayHaveCode, adds);
}

/** Returns the files for which `differs` reports a change in executable content. */
async function changedCode(
  repository: CheckPorts["repository"],
  all: readonly ChangedFile[],
  isOfKind: (path: string) => boolean,
  differs: (before: string | undefined, after: string | undefined, path: string) => boolean,
): Promise<string[]> {
  const files = all.filter(({ path }) => isOfKind(path));
  const contents = new Map<string, string>();
  const ids = files.flatMap(({ before, after }) => [before, after].filter((id) => id !== undefined));
  if (ids.length === 0) return [];
  for await (const { id, content } of repository.readContents(ids)) contents.set(id, content);
  return files.flatMap(({ path, before = "", after = "" }) =>
    differs(contents.get(before), contents.get(after), path) ? [path] : [],
  );
}

export class NotAllowed extends ChangeRefused {}

/**
 * Checks a change before it is pushed.
 *
 * @param base - the commit that is already pushed
 * @param texts - other published texts, by display name
 * @param log - appends to the job's log
 * @throws if it contains a secret or a file that is not allowed; the message names the places, never the secret
 */
export async function checkChange(
  ports: CheckPorts,
  base: string,
  head: string,
  texts: Readonly<Record<string, string>>,
  log: (text: string) => void,
): Promise<void> {
  const { repository, secrets = [], only } = ports;
  const files = await repository.changedFiles(base, head);
  const patterns = new SecretPatterns(secrets);
  if (!patterns.isEmpty) {
    const places = await findSecrets(patterns, repository, files, texts);
    if (places.length > 0)
      throw new ChangeRefused(
        `the change has secrets of the service, so it is not pushed: ${places.join(", ")}. Find out how the agent got them, and replace them; name a variable that has none with --agent-env-public`,
      );
  }
  // Kept work may have been made with other options.
  const outside = files.filter(({ path }) => only?.matches(path) === false).map(({ path }) => oneLine(path));
  if (outside.length > 0) throw new NotAllowed(`the change has files that --only does not allow: ${namesOf(outside)}`);
  const refused = await findRefused(ports, files, base);
  if (refused.size > 0)
    throw new NotAllowed(
      `the change has files that --protected-files refuse does not allow, which lets through only texts, pictures and what --only names: ${namesOf([...refused.values()])}`,
    );
  const found = await findFlaggedChanges(ports, files, base);
  if (found.length > 0)
    log(
      `The change has files that run code, instruct agents or should have passed a Git filter. Review them first: ${namesOf(found)}`,
    );
}

/** Returns where secrets were found, except in lines that a file already contained. */
async function findSecrets(
  patterns: SecretPatterns,
  repository: CheckPorts["repository"],
  files: readonly ChangedFile[],
  texts: Readonly<Record<string, string>>,
): Promise<string[]> {
  const places: string[] = [];
  const add = (name: string | undefined, place: string): void => {
    if (name !== undefined && places.length < maxNames) places.push(`${name} in ${place}`);
  };
  for (const [place, text] of Object.entries(texts)) add((await patterns.find(bytesAsText(text)))?.name, place);
  for (const { path } of files) add((await patterns.find(bytesAsText(path)))?.name, "the name of a file");
  const contents = repository.readContents(files.flatMap(({ after }) => after ?? []));
  let known: ReadonlySet<string> | undefined;
  for await (const { id, content } of contents) {
    const found = await patterns.findAll(content);
    if (found.length === 0) continue;
    known ??= await earlierLines(repository, files);
    const { name, start } = found.find((place) => !linesOf(content, place).every((line) => known?.has(line))) ?? {};
    const line = content.slice(0, start).split("\n").length;
    for (const { path } of files.filter(({ after }) => after === id)) add(name, `${oneLine(path)}, line ${line}`);
  }
  return places;
}

/** Returns all lines that the files contained before the change. */
async function earlierLines(repository: CheckPorts["repository"], files: readonly ChangedFile[]): Promise<Set<string>> {
  const lines = new Set<string>();
  for await (const { content } of repository.readContents(files.flatMap(({ before }) => before ?? [])))
    for (const line of content.split("\n")) lines.add(line);
  return lines;
}

/** Returns the lines that a match spans. */
function linesOf(text: string, { start, end }: Pick<Place, "start" | "end">): string[] {
  const to = text.indexOf("\n", end);
  return text.slice(text.lastIndexOf("\n", start) + 1, to < 0 ? undefined : to).split("\n");
}

const bytesAsText = (text: string): string => Buffer.from(text).toString("latin1");
