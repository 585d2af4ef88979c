import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { say, type Text } from "../../runner-kit/text.ts";
import type { PromptFile } from "./schema.ts";

/**
 * Reads the prompt from a file in the workspace, as written except for a byte order mark. A path that leaves the
 * workspace, directly or through a symbolic link, is rejected: if an untrusted branch is checked out, such a link could send
 * any file on the runner to the agent.
 */
export function readPromptFile(path: string, workspace: string): PromptFile {
  try {
    const root = realpathSync(workspace);
    const file = realpathSync(resolve(root, path));
    const fromRoot = relative(root, file);
    if (fromRoot === ".." || fromRoot.startsWith(`..${sep}`) || isAbsolute(fromRoot)) {
      return { problem: say`must be in the workspace, but ${path} is outside it` };
    }
    // A link in an untrusted branch could point to Git's own files, which may contain the checkout's token.
    if (fromRoot.split(sep).some((name) => name.toLowerCase() === ".git")) {
      return { problem: say`must not be in .git, but ${path} is` };
    }
    if (!statSync(file).isFile()) return { problem: say`must be a file, but ${path} is not` };
    const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
    return text.trim() === "" ? { problem: say`is empty: ${path} contains no text` } : { text };
  } catch (error) {
    return { problem: describe(error as NodeJS.ErrnoException, path) };
  }
}

function describe(error: NodeJS.ErrnoException, path: string): Text {
  if (error.code === "ENOENT")
    return say`does not exist: there is no ${path} in the workspace. Check the path, and that the repository is checked out`;
  if (error.code === "ERR_ENCODING_INVALID_ENCODED_DATA") return say`must be UTF-8 text, but ${path} is not`;
  return say`cannot be read: ${path} (${error.code ?? error.message})`;
}
