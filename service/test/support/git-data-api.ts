import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DocsRepository } from "../../../tools/docs-repository.ts";
import type { ServedResponse } from "./pull-request-server.ts";

/** The time of the last commit, in seconds since 1970. All stand-ins share one GitHub, whose clock goes on with each. */
let seconds = 0;

/** What the bot of the token is called. */
export const botLogin = "docs-bot[bot]";
const bot = `${botLogin} <7+${botLogin}@users.noreply.127.0.0.1>`;
const signature = "-----BEGIN PGP SIGNATURE-----\n\nwsFcBAABCAAQBQJ=\n-----END PGP SIGNATURE-----\n";

interface SentEntry {
  path: string;
  mode: string;
  type: string;
  sha: string;
}

/** GitHub's API for objects of Git, on a bare repository, and its rules that require signatures. */
export interface GitDataApi {
  /** The branches on which a rule requires signatures. */
  ruled: (branch: string) => boolean;
  /** What GitHub says of a signature. Default: it is valid. */
  reason: string | undefined;
  /** May change a commit that GitHub makes, before it is signed. */
  change: (text: string) => string;
  /** Answers a request of a bot; `undefined` if it is about something else. */
  answer(request: string, body: string): ServedResponse | undefined;
  /** Lets the repository reject unsigned commits, as GitHub does by a rule. */
  rejectUnsigned(isRejected: boolean): void;
}

/** Returns whether a commit has the signature of the API. */
export const hasSignature = (docs: DocsRepository, commit: string): boolean =>
  docs.git("cat-file", "commit", commit).includes("\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n wsFcB");

/** Grants the least that GitHub grants: whoever names an author is not signed for, and all named objects must be there. */
export function createGitDataApi(docs: DocsRepository): GitDataApi {
  const git = (args: string[], input: string | Buffer = "") =>
    execFileSync("git", ["-C", docs.path, ...args], { input, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
  const typeOf = (id: string): string | undefined => {
    try {
      return git(["cat-file", "-t", id]).trim();
    } catch {
      return undefined;
    }
  };
  const invalid = (message: string): ServedResponse => ({ status: 422, body: { message } });
  const created = (sha: string, more = {}): ServedResponse => ({ status: 201, body: { sha, ...more } });
  const hash = (type: string, content: string | Buffer) =>
    git(["hash-object", "-t", type, "-w", "--stdin"], content).trim();

  const createTree = (entries: SentEntry[]): ServedResponse => {
    const types: Record<string, string> = {
      "100644": "blob",
      "100755": "blob",
      "120000": "blob",
      "040000": "tree",
      "160000": "commit",
    };
    for (const { path, mode, type, sha } of entries) {
      if (types[mode] !== type || path.includes("/")) return invalid("tree.mode is invalid");
      if (type !== "commit" && typeOf(sha) !== type) return invalid(`tree.sha ${sha} is not a valid ${type}`);
    }
    const lines = entries.map(({ mode, type, sha, path }) => `${mode} ${type} ${sha}\t${path}\0`);
    return created(git(["mktree", "-z", "--missing"], lines.join("")).trim());
  };

  const createCommit = (sent: { message: string; tree: string; parents: string[]; author?: unknown }) => {
    if (typeOf(sent.tree) !== "tree") return invalid("Tree SHA does not exist");
    if (!sent.parents.every((parent) => typeOf(parent) === "commit")) return invalid("Parent SHA does not exist");
    // No two commits are made in the same second, as none are between which a lease has expired.
    seconds = Math.max(seconds + 1, Math.floor(Date.now() / 1000));
    const now = `${seconds} +0000`;
    const parents = sent.parents.map((parent) => `parent ${parent}\n`).join("");
    const by = `author ${bot} ${now}\ncommitter GitHub <noreply@github.com> ${now}\n`;
    const payload = api.change(`tree ${sent.tree}\n${parents}${by}\n${sent.message}`);
    const reason = sent.author === undefined ? api.reason : "unsigned";
    if (reason !== undefined) {
      const verification = { verified: false, reason, signature: null, payload: null };
      return created(hash("commit", payload), { verification });
    }
    const signed = payload.replace("\n\n", `\ngpgsig ${signature.replaceAll("\n", "\n ")}\n\n`);
    return created(hash("commit", signed), { verification: { verified: true, reason: "valid", signature, payload } });
  };

  const api: GitDataApi = {
    ruled: () => false,
    reason: undefined,
    change: (text) => text,
    answer: (request, body) => {
      if (request === "POST /graphql")
        return { status: 200, body: { data: { viewer: { login: botLogin, databaseId: 7 } } } };
      const [, branch] = /^GET \/repos\/acme\/docs\/rules\/branches\/([^?]+)/.exec(request) ?? [];
      if (branch !== undefined) {
        const rules = api.ruled(decodeURIComponent(branch)) ? [{ type: "required_signatures" }] : [];
        return { status: 200, body: [{ type: "deletion", ruleset_id: 1 }, ...rules] };
      }
      const [, kind] = /^POST \/repos\/acme\/docs\/git\/(\w+)$/.exec(request) ?? [];
      if (kind === undefined) return undefined;
      const sent = JSON.parse(body);
      if (kind === "trees") return createTree(sent.tree);
      if (kind === "commits") return createCommit(sent);
      return created(hash("blob", Buffer.from(sent.content, sent.encoding)));
    },
    rejectUnsigned: (isRejected) => {
      const hook = join(docs.path, "hooks/pre-receive");
      if (!isRejected) return rmSync(hook, { force: true });
      const script = `#!/bin/sh
while read old new ref; do
  [ "$new" = 0000000000000000000000000000000000000000 ] && continue
  for commit in $(git rev-list "$new" --not --all); do
    git cat-file commit $commit | grep -q '^gpgsig ' && continue
    echo "error: GH013: Repository rule violations found for $ref." >&2
    echo "- Commits must have verified signatures." >&2
    exit 1
  done
done
`;
      writeFileSync(hook, script, { mode: 0o755 });
    },
  };
  return api;
}
