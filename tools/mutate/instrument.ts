import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { Instrumenter } from "@stryker-mutator/instrumenter";

/** A small change to a source file. Lines and columns start at 1. */
export interface Mutant {
  id: string;
  /** Relative to the repository, with slashes. */
  file: string;
  line: number;
  column: number;
  /** The kind of change, such as `EqualityOperator`. */
  mutator: string;
  original: string;
  replacement: string;
}

const ignore = (): void => {};
const silentLogger = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace: ignore,
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  fatal: ignore,
};

/**
 * Returns the TypeScript files of paths in a repository, relative to it.
 *
 * @throws if a path does not exist or contains no TypeScript file
 */
export function sourceFiles(root: string, paths: readonly string[]): string[] {
  const files = paths.flatMap((path) => {
    const absolute = join(root, path);
    const isFolder = statSync(absolute, { throwIfNoEntry: false })?.isDirectory() ?? false;
    const found = isFolder ? globSync("**/*.ts", { cwd: absolute }).map((file) => join(absolute, file)) : [absolute];
    if (found.length === 0 || !found.every((file) => file.endsWith(".ts") && statSync(file, { throwIfNoEntry: false })))
      throw new Error(`${path} is not a TypeScript file, and not a folder that contains one`);
    return found.map((file) => relative(root, file).replaceAll(sep, "/"));
  });
  return [...new Set(files)].sort();
}

/**
 * Replaces source files by versions that contain all their mutants. Each is switched on by its id in
 * `globalThis.__stryker__.activeMutant`; see `runner.ts`.
 */
export async function instrument(root: string, files: readonly string[]): Promise<Mutant[]> {
  const sources = files.map((file) => ({ name: file, mutate: true, content: readFileSync(join(root, file), "utf8") }));
  const instrumenter = new Instrumenter(silentLogger);
  const result = await instrumenter.instrument(sources, { plugins: null, ignorers: [], excludedMutations: [] });
  for (const { name, content } of result.files) writeFileSync(join(root, name), content);
  const contents = new Map(sources.map(({ name, content }) => [name, content]));
  return result.mutants.map(({ id, fileName, location, mutatorName, replacement }) => ({
    id,
    file: fileName,
    line: location.start.line + 1,
    column: location.start.column + 1,
    mutator: mutatorName,
    original: textAt(contents.get(fileName) ?? "", location),
    replacement: replacement ?? "",
  }));
}

interface Position {
  line: number;
  column: number;
}

function textAt(content: string, { start, end }: { start: Position; end: Position }): string {
  const lines = content.split("\n").slice(start.line, end.line + 1);
  const last = lines.length - 1;
  return lines
    .map((line, index) => line.slice(index === 0 ? start.column : 0, index === last ? end.column : undefined))
    .join("\n");
}
