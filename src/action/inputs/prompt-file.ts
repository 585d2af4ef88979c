import { readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { say, type Text } from "../../runner-kit/text.ts";

/** The prompt file's text, or why it cannot be used. */
export type PromptFile = { text: string } | { problem: Text };

/**
 * Reads the prompt from a file in the workspace, without a byte order mark. No path or link may leave the workspace: in an
 * untrusted branch, it could send any file on the runner to the agent.
 */
export function readPromptFile(path: string, workspace: string): PromptFile {
  try {
    // The system's own function also expands short names of Windows: JavaScript's leaves `GIT~1` as it is.
    const root = realpathSync.native(workspace);
    const file = realpathSync.native(resolve(root, path));
    const fromRoot = relative(root, file);
    if (fromRoot === ".." || fromRoot.startsWith(`..${sep}`) || isAbsolute(fromRoot))
      return { problem: say`must be in the workspace, but ${path} is outside it` };
    // A link in an untrusted branch could point to Git's own files, which may contain the checkout's token.
    if (fromRoot.split(sep).some((name) => isGitFolder.test(name)))
      return { problem: say`must not be in .git, but ${path} is` };
    if (!statSync(file).isFile()) return { problem: say`must be a file, but ${path} is not` };
    const text = new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
    // UTF-16 without a byte order mark is also UTF-8, with a NUL beside each letter.
    if (text.includes("\0")) return { problem: notUtf8(path) };
    return text.trim() === "" ? { problem: say`is empty: ${path} contains no text` } : { text };
  } catch (error) {
    return { problem: describe(error as NodeJS.ErrnoException, path) };
  }
}

/** Names of `.git` on disks that ignore case, and on Windows: names that Git itself does not check out there. */
const isGitFolder = /^(\.git|git~\d+)[ .]*(:.*)?$/i;

function notUtf8(path: string): Text {
  return say`must be UTF-8 text, but ${path} is not. In PowerShell, write it with Out-File -Encoding utf8`;
}

function describe(error: NodeJS.ErrnoException, path: string): Text {
  if (error.code === "ENOENT")
    return say`does not exist: there is no ${path} in the workspace. Check the path, and that the repository is checked out`;
  if (error.code === "ERR_ENCODING_INVALID_ENCODED_DATA") return notUtf8(path);
  return say`cannot be read: ${path} (${error.code ?? error.message})`;
}
