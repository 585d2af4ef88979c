import { execFileSync } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { scratchFolder } from "./scratch.ts";

const root = resolve(import.meta.dirname, "..");

export interface DistFile {
  name: string;
  bytes: number;
  /** Bytes per package; `""` stands for our own sources. */
  packages: Map<string, number>;
  /** When it is loaded, such as `always`. */
  loaded: string;
}

export interface Sizes {
  totalBytes: number;
  files: DistFile[];
}

/** The parts of webpack's statistics that are used here. */
interface Module {
  size: number;
  nameForCondition: string | null;
  chunks: (string | number)[];
  modules?: Module[];
}

interface Chunk {
  id: string | number;
  files: string[];
  /** The dynamic imports that load it, or the entry. */
  origins: { request: string }[];
}

interface Statistics {
  modules: Module[];
  chunks: Chunk[];
}

/** Measures both bundles: the action, and what runs an agent for it. */
export function measureSize(): { action: Sizes; service: Sizes } {
  return {
    action: measureBundle("build/action", "dist"),
    service: measureBundle("service/build/service/step", "service/dist"),
  };
}

/** Measures a bundle. Bundles the output of `npm run build` again in a temporary folder, to get the statistics. */
function measureBundle(entry: string, dist: string): Sizes {
  using scratch = scratchFolder();
  const statistics = join(scratch.path, "statistics.json");
  const bundler = join(root, "node_modules/@vercel/ncc/dist/ncc/cli.js");
  const args = ["build", `${entry}/index.js`, "--out", scratch.path, "--no-cache", "--stats-out", statistics];
  execFileSync(process.execPath, [bundler, ...args], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  const { modules, chunks } = JSON.parse(readFileSync(statistics, "utf8")) as Statistics;

  const pattern = dist === "dist" ? "*.js" : "**/*.js";
  const files = globSync(pattern, { cwd: join(root, dist) }).map((name) => {
    const chunk = chunks.find((one) => one.files.includes(name));
    const packages = new Map<string, number>();
    const inside = modules
      .filter((one) => chunk !== undefined && one.chunks.includes(chunk.id))
      .flatMap((module) => module.modules ?? [module]);
    for (const { nameForCondition, size } of inside) {
      const owner = packageOf(nameForCondition);
      packages.set(owner, (packages.get(owner) ?? 0) + size);
    }
    const { size: bytes } = statSync(join(root, dist, name));
    // A program that is compiled, not bundled.
    if (chunk === undefined) packages.set("", bytes);
    return { name, bytes, packages, loaded: chunk ? loadedBy(chunk) : "in a process of its own" };
  });
  return { totalBytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files };
}

/** What loads the files that not every step loads, by the end of the dynamic import. */
const uses: [RegExp, string][] = [
  [/\/runner\/github\.js$/, "to ask GitHub"],
  [/\/runner\/id-token\.js$/, "with `auth: github-oidc`"],
  [/\/comment-mode\.js$/, "in comment mode"],
  [/\/find-section\.js$/, "with `changes`"],
  [/\/run-with-memory\.js$/, "to remember the job"],
  [/\/connect-cache\.js$/, "to remember the job"],
  [/\/(parse-entry|pull-request-state|step-record)\.js$/, "to read what is remembered"],
  [/\/invalid-inputs\.js$/, "with invalid inputs"],
  [/\/(dry-run|attempt-memory|session-memory)\.js$/, "with `dry-run`"],
  [/\/base-branch\.js$/, "with `base`"],
];

function loadedBy(chunk: Chunk): string {
  const found = chunk.origins.map(({ request }) => uses.find(([end]) => end.test(request))?.[1]);
  if (found.length === 0 || found.includes(undefined)) return "always";
  return [...new Set(found)].sort().join(", or ");
}

function packageOf(path: string | null): string {
  const parts = path?.replaceAll("\\", "/").split("/node_modules/") ?? [];
  if (parts.length < 2) return "";
  const [scope = "", name = ""] = (parts.at(-1) ?? "").split("/");
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}
