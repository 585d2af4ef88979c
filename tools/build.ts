import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

// Builds the bundles, except those that are what their sources build: `node tools/build.ts [action] [service]`. It goes by
// content, because a checkout gives all files the same time. The record of a build is in its folder and committed with it, so that
// a fresh clone does not build; `.ci/check-dist` does, and compares both.

const root = resolve(import.meta.dirname, "..");

interface Bundle {
  /** The npm script that builds it, with its arguments. */
  script: string[];
  folder: string;
  /** What it is made of, besides the packages and the compiler, which `common` names. */
  sources: string[];
}

const common = ["package.json", "package-lock.json", "tsconfig.json", "stubs/**/*", "tools/build.ts"];

const bundles: Record<string, Bundle> = {
  action: { script: ["build:action"], folder: "dist", sources: ["src/**/*", "tsconfig.build.json"] },
  service: {
    script: ["build", "--workspace", "service"],
    folder: "service/dist",
    sources: ["src/runner-kit/**/*", "service/src/**/*", "service/step/**/*", "service/*.json"],
  },
};

/** Returns a hash of the names and contents of files, which is the same on all systems. */
function hashOf(patterns: readonly string[], without: string): string {
  const hash = createHash("sha256");
  const files = globSync(patterns, { cwd: root }).map((file) => file.replaceAll("\\", "/"));
  for (const file of files.filter((file) => file !== without && statSync(join(root, file)).isFile()).sort())
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update("\0");
  return hash.digest("hex");
}

async function build({ script, folder, sources }: Bundle): Promise<void> {
  const record = `${folder}/build.sha256`;
  const state = (): string => `${hashOf([...common, ...sources, `${folder}/**/*`], record)}\n`;
  if (existsSync(join(root, record)) && readFileSync(join(root, record), "utf8") === state()) {
    console.log(`${folder} is up to date`);
    return;
  }
  const shell = process.platform === "win32"; // where npm is a script
  const npm = spawn("npm", ["run", "--silent", ...script], { cwd: root, stdio: "inherit", shell });
  const [exitCode] = await once(npm, "exit");
  if (exitCode !== 0) throw new Error(`${folder} was not built`);
  writeFileSync(join(root, record), state());
}

const names = process.argv.slice(2);
const wanted = Object.entries(bundles).filter(([name]) => names.length === 0 || names.includes(name));
await Promise.all(wanted.map(([, bundle]) => build(bundle)));
