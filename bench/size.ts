import { execFileSync } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { scratchFolder } from "./scratch.ts";

const root = resolve(import.meta.dirname, "..");

export interface DistFile {
  name: string;
  bytes: number;
  /** Bytes per package; `""` stands for our own sources. */
  packages: Map<string, number>;
  loaded: Loaded;
}

/** When a file is loaded: in every step, only for requests to GitHub, or only for the Actions cache, in its process. */
export type Loaded = "always" | "GitHub" | "cache" | "GitHub or cache";

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

/** Measures `dist`. Bundles the output of `npm run build` again in a temporary folder, to get the statistics. */
export function measureSize(): Sizes {
  using scratch = scratchFolder();
  const statistics = join(scratch.path, "statistics.json");
  const bundler = join(root, "node_modules/@vercel/ncc/dist/ncc/cli.js");
  const args = ["build", "build/action/index.js", "--out", scratch.path, "--no-cache", "--stats-out", statistics];
  execFileSync(process.execPath, [bundler, ...args], { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  const { modules, chunks } = JSON.parse(readFileSync(statistics, "utf8")) as Statistics;

  const files = globSync("*.js", { cwd: join(root, "dist") }).map((name) => {
    const chunk = chunks.find((one) => one.files.includes(name));
    const packages = new Map<string, number>();
    const inside = modules
      .filter((one) => chunk !== undefined && one.chunks.includes(chunk.id))
      .flatMap((module) => module.modules ?? [module]);
    for (const { nameForCondition, size } of inside) {
      const owner = packageOf(nameForCondition);
      packages.set(owner, (packages.get(owner) ?? 0) + size);
    }
    return { name: basename(name), bytes: statSync(join(root, "dist", name)).size, packages, loaded: loadedBy(chunk) };
  });
  return { totalBytes: files.reduce((sum, { bytes }) => sum + bytes, 0), files };
}

function loadedBy(chunk: Chunk | undefined): Loaded {
  const uses = (chunk?.origins ?? []).map(({ request }): Loaded => {
    if (request.endsWith("/runner/github.js")) return "GitHub";
    // Kerberos is for proxies, and an optional dependency that is not bundled.
    if (request.endsWith("/runner/cache-process.js") || request === "kerberos") return "cache";
    return "always";
  });
  if (uses.length === 0 || uses.includes("always")) return "always";
  if (uses.includes("GitHub") && uses.includes("cache")) return "GitHub or cache";
  return uses[0] ?? "always";
}

function packageOf(path: string | null): string {
  const parts = path?.replaceAll("\\", "/").split("/node_modules/") ?? [];
  if (parts.length < 2) return "";
  const [scope = "", name = ""] = (parts.at(-1) ?? "").split("/");
  return scope.startsWith("@") ? `${scope}/${name}` : scope;
}
