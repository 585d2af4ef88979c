import { createHash } from "node:crypto";
import type { Identity } from "../model.ts";
import type { Git } from "./git.ts";

/** Returns an identity as Git writes it. */
export const showIdentity = ({ name, email }: Identity): string => `${name} <${email}>`;

/** Returns the whole text of a commit: its headers, an empty line, and its message. */
export function readCommit(git: Git, commit: string): Promise<string> {
  return git.run(["cat-file", "commit", commit]);
}

/** Adds a commit with a text to the clone, and returns its id. */
export async function writeCommit(git: Git, text: string): Promise<string> {
  return (await git.run(["hash-object", "-t", "commit", "-w", "--stdin"], { input: text })).trim();
}

/** Returns the headers of a commit's text, and its message. */
export function splitCommit(text: string): { headers: string; message: string } {
  const end = text.indexOf("\n\n");
  return { headers: text.slice(0, end), message: text.slice(end + 2) };
}

/** Returns whether a commit has a signature. */
export const isSigned = (text: string): boolean => /^gpgsig(?:-sha256)? /m.test(splitCommit(text).headers);

/** Returns the text of a commit with another author and committer, at the same times, and another message. */
export function rewriteCommit(text: string, identity: Identity, message: string): string {
  const { headers } = splitCommit(text);
  const by = headers.replace(
    /^(author|committer) .* (\d+ [+-]\d+)$/gm,
    (_, role: string, time: string) => `${role} ${showIdentity(identity)} ${time}`,
  );
  return `${by}\n\n${message}`;
}

/**
 * Returns the text of a signed commit.
 *
 * @param payload - its text without the signature
 * @param signature - it may end with a line break, or have lost it
 * @param id - of the signed commit
 * @returns `undefined` if that has another text
 */
export function signedCommit(payload: string, signature: string, id: string): string | undefined {
  const { headers, message } = splitCommit(payload);
  const end = signature.trimEnd();
  const texts = [signature, end, `${end}\n`].map(
    (one) => `${headers}\ngpgsig ${one.replaceAll("\n", "\n ")}\n\n${message}`,
  );
  return texts.find((text) => commitId(text, id.length === 64 ? "sha256" : "sha1") === id);
}

const commitId = (text: string, algorithm: "sha1" | "sha256"): string =>
  createHash(algorithm)
    .update(`commit ${Buffer.byteLength(text)}\0${text}`)
    .digest("hex");
