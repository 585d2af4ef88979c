import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";

/** Folders next to `bin` that belong to an installation, such as Node or a Python environment. Others, such as `share`, may have data. */
const installationParts = ["bin", "sbin", "lib", "lib64", "libexec", "pyvenv.cfg"];

/** In bytes. Linux reads no more of a `#!` line. */
const maxInterpreterLine = 256;

/**
 * Returns the files and directories that a program needs to run: where it is installed, following links, and where its
 * interpreter is. Empty if it is not found.
 *
 * @param program - a path, or a name to look up
 * @param searchPath - as in `PATH`
 */
export function programPaths(program: string, searchPath: string): string[] {
  const paths = new Set<string>();
  const seen = new Set<string>();
  const visit = (file: string | undefined): void => {
    if (file === undefined || seen.has(file) || !existsSync(file)) return;
    seen.add(file);
    for (const path of installationOf(file)) paths.add(path);
    visit(join(realpathSync(dirname(file)), basename(file)));
    if (lstatSync(file).isSymbolicLink()) visit(resolve(dirname(file), readlinkSync(file)));
    else
      interpretersOf(file).forEach((interpreter) => {
        visit(findProgram(interpreter, searchPath));
      });
  };
  visit(findProgram(program, searchPath));
  return [...paths];
}

/** Returns the file of a program; `undefined` if it is not found. */
export function findProgram(program: string, searchPath: string): string | undefined {
  if (program.includes("/")) return resolve(program);
  const candidates = searchPath
    .split(":")
    .filter(isAbsolute)
    .map((folder) => join(folder, program));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}

function installationOf(file: string): string[] {
  const modules = "/node_modules/";
  const index = file.indexOf(modules);
  if (index >= 0) return [file.slice(0, index + modules.length - 1)];
  const folder = dirname(file);
  if (!["bin", "sbin", "libexec"].includes(basename(folder))) return [file];
  return installationParts.map((part) => join(dirname(folder), part)).filter(existsSync);
}

/** Returns the programs that a script names in its first line: `#!/usr/bin/env node` names two. */
function interpretersOf(file: string): string[] {
  const buffer = Buffer.alloc(maxInterpreterLine);
  let descriptor: number | undefined;
  let size: number;
  try {
    descriptor = openSync(file, "r");
    size = readSync(descriptor, buffer);
  } catch {
    // A program that can be run, but not read, is no script.
    return [];
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  const [line = ""] = buffer.toString("utf8", 0, size).split("\n");
  if (!line.startsWith("#!")) return [];
  const [interpreter = "", ...args] = line.slice(2).trim().split(/\s+/);
  if (basename(interpreter) !== "env") return [interpreter];
  const program = args.find((arg) => !arg.startsWith("-") && !arg.includes("="));
  return program === undefined ? [interpreter] : [interpreter, program];
}
