// Plants a hostile tree in the current directory, as an agent that was led astray: the prompt is a seed. It runs alone in a
// process, so it imports only Node's modules and what it is given.
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { createServer } from "node:net";
import { Random } from "../chaos/random.ts";

const seed = Number(/\d+/.exec(fs.readFileSync(0, "utf8"))?.[0]);
const random = new Random(seed);
const integer = (from: number, to: number): number => Math.floor(random.between(from, to));
const times = (count: number, action: () => void): void => {
  for (let index = 0; index < count; index++) action();
};

/** Some of these fail, such as devices without the right to create them. */
function tryTo(action: () => void): void {
  try {
    action();
  } catch {
    // The tree is hostile without it, too.
  }
}

/** Names that Git or a file system gives a meaning of its own. */
const special = [
  ...[".git", ".GIT", ".git ", "git~1", ".gitignore", ".gitattributes", ".gitmodules", ".gitconfig", "HEAD", "config"],
  ...[
    "-rf",
    "--exec=sh",
    ":(top)",
    ":/",
    "*",
    "?",
    "[a-",
    "\\",
    '"',
    "'",
    "$(id)",
    "`id`",
    "a\nb",
    "a\tb",
    "\x1b[2J",
    " ",
  ],
  ...["con", "nul.txt", "a:b", "...", "~", "#x", "!x", "@{-1}", "x.lock", "index.lock"],
];

/** A name as bytes, of which most are not UTF-8. */
function nameOf(): Buffer {
  const kind = random.next();
  if (kind < 0.35) return Buffer.from(random.pick(special));
  if (kind < 0.5) return Buffer.from("a".repeat(integer(1, 250)));
  if (kind < 0.6) return Buffer.from("é\u202e😀\u0301".repeat(integer(1, 12)));
  const bytes = Buffer.from(
    Array.from({ length: integer(1, 40) }, () => integer(1, 256)).filter((byte) => byte !== 47),
  );
  return bytes.length === 0 || /^\.{1,2}$/.test(bytes.toString("latin1")) ? Buffer.from("x") : bytes;
}

const folders: Buffer[] = [Buffer.from(".")];
const within = (name: Buffer, folder = random.pick(folders)): Buffer => Buffer.concat([folder, Buffer.from("/"), name]);
const place = (): Buffer => within(nameOf());

function file(
  path: Buffer,
  content: string | Buffer = Buffer.from(Array.from({ length: integer(0, 200) }, () => integer(0, 256))),
) {
  tryTo(() => fs.writeFileSync(path, content));
}

function folder(): void {
  const path = place();
  tryTo(() => {
    fs.mkdirSync(path);
    folders.push(path);
  });
}

/** What a shell does for programs that take no bytes as arguments. */
const script: string[] = [];
const quoted = (path: Buffer): string =>
  `"$(printf '${[...path].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}.')"`;
const run = (command: string, path: Buffer): void => {
  // Without the dot, a line end at the end of a name would be lost.
  script.push(`p=${quoted(path)}; p=\${p%.}; ${command} 2> /dev/null`);
};

/** Takes Git time that is exponential in their length, for names that they nearly match. */
const patterns = [
  () => `${"*a".repeat(integer(2, 30))}b\n`,
  () => `${"/**/a".repeat(integer(2, 20))}/b\n`,
  () => `${"[!b]*".repeat(integer(2, 30))}c\n`,
  () => `${"**/*?".repeat(integer(2, 20))}z\n`,
  () => "!*\n*\n!*/\n",
  () => `${"\\".repeat(integer(1, 50))}\n[\n[[:\n`,
  () => `${"x\n".repeat(20_000)}`,
];

const gitFiles = [".gitignore", ".gitattributes", ".gitmodules"].map((name) => Buffer.from(name));

const operations: readonly (() => void)[] = [
  () => file(place()),
  () => file(place()),
  folder,
  folder,
  () => run('mkfifo "$p"', within(random.pick([...gitFiles, nameOf(), nameOf()]))),
  () => run(`mknod "$p" ${random.pick(["c 1 5", "c 1 3", "b 7 0"])}`, place()),
  // A socket stays if its process does not close it.
  () =>
    tryTo(
      () =>
        void createServer()
          .listen(`s${integer(0, 99)}.sock`)
          .unref(),
    ),
  () =>
    tryTo(() =>
      fs.symlinkSync(random.pick([".", "..", "/", "/dev/zero", "/proc/self/fd/0", "loop", "../../.."]), place()),
    ),
  () =>
    tryTo(() => {
      const [one, other] = [place(), place()];
      fs.symlinkSync(other, one);
      fs.symlinkSync(one, other);
    }),
  () => tryTo(() => fs.symlinkSync("/dev/zero", within(random.pick(gitFiles)))),
  () => file(within(random.pick(gitFiles)), random.pick(patterns)()),
  () => {
    let deep = random.pick(folders);
    times(integer(5, 70), () => {
      deep = within(Buffer.from(random.pick(["a", "a", "b"])), deep);
      tryTo(() => fs.mkdirSync(deep));
    });
    file(within(Buffer.from("c"), deep));
  },
  () => {
    // Deeper than any path can be.
    const start = process.cwd();
    tryTo(() =>
      times(integer(100, 1200), () => {
        fs.mkdirSync("deep-folder");
        process.chdir("deep-folder");
      }),
    );
    file(Buffer.from("c"));
    process.chdir(start);
  },
  () => {
    const repository = within(Buffer.from(".git"), random.pick(folders));
    tryTo(() => fs.mkdirSync(repository));
    for (const name of ["objects", "refs"]) tryTo(() => fs.mkdirSync(within(Buffer.from(name), repository)));
    const head = within(Buffer.from("HEAD"), repository);
    if (random.next() < 0.5) file(head, "ref: refs/heads/main\n");
    else run('mkfifo "$p"', head);
    file(within(Buffer.from("config"), repository), "[core]\n\tfsmonitor = sleep 60\n[include]\n\tpath = /dev/zero\n");
  },
  () => file(within(Buffer.from(".git")), `gitdir: ${random.pick(["/dev/zero", ".", "../../..", "/"])}\n`),
  () =>
    run(
      `rm -rf .git; ${random.pick(['mkfifo "$p"', 'ln -s /dev/zero "$p"', 'ln -s / "$p"', ":"])}`,
      Buffer.from(".git"),
    ),
  () => run(`chmod ${random.pick(["000", "200", "400", "7777", "1000"])} "$p"`, random.pick(folders)),
  () =>
    run(
      `rm -rf README.md docs; ${random.pick(['mkfifo "$p"', 'mkdir "$p"', 'ln -s .git "$p"', 'ln -s / "$p"'])}`,
      Buffer.from("README.md"),
    ),
  () => {
    const path = place();
    file(path);
    tryTo(() => fs.truncateSync(path, integer(1, 300) * 1_000_000));
  },
  () => {
    const path = place();
    file(path, "x");
    times(integer(2, 20), () => tryTo(() => fs.linkSync(path, place())));
  },
  () => times(integer(10, 1500), () => file(place(), "")),
  () => file(place(), `${"x".repeat(integer(1, 3) * 100_000)}\n`),
];

times(integer(1, random.pick([3, 6, 25])), () => random.pick(operations)());
if (script.length > 0)
  tryTo(() => execFileSync("/bin/sh", { input: script.join("\n"), stdio: ["pipe", "ignore", "ignore"] }));
// Some leave something behind that writes on.
if (random.next() < 0.1)
  tryTo(() => execFileSync("/bin/sh", ["-c", "(while :; do echo x > late.md; done) > /dev/null 2>&1 &"]));
setTimeout(() => process.exit(random.next() < 0.9 ? 0 : 1), 5);
