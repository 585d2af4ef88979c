import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/metadata.ts";

const patterns = ["src/**/*.ts", "service/src/**/*.ts", "service/step/**/*.ts"];
const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: root })).map((file) => file.replaceAll(sep, "/"));

interface Import {
  file: string;
  /** The path in the repository for a file, the name for a package. */
  target: string;
  isType: boolean;
  isDynamic: boolean;
}

/** Returns the path in the repository. A file that a package hides is named as if the package did not. */
function targetOf(path: string): string {
  return normalize(path)
    .replaceAll(sep, "/")
    .replace(/^node_modules\//, "");
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const pattern = /(?:^import (type )?[^"]*?|^export (type )?[^"]*? from |import(\())\s*"([^"]+)"/gm;
  return [...text.matchAll(pattern)].map(([, type, typeAgain, dynamic, specifier = ""]) => ({
    file,
    target: specifier.startsWith(".") ? targetOf(join(dirname(file), specifier)) : specifier,
    isType: (type ?? typeAgain) !== undefined,
    isDynamic: dynamic !== undefined,
  }));
}

const imports = files.flatMap(importsOf);
const internal = imports.filter(({ target }) => target.endsWith(".ts"));
const format = ({ file, target }: Import) => `${file} → ${target}`;

/** The house that a file belongs to: `action`, `client`, `runner-kit`, `service` or `step`. */
function houseOf(path: string): string {
  const [top, part = ""] = path.split("/");
  return top === "service" && part === "src" ? "service" : part;
}

/** The room of a house that a file is in, such as `action/report`; the file itself if it is in none. */
function roomOf(path: string): string {
  const [, , room = ""] = path.split("/");
  if (!["action", "service"].includes(houseOf(path))) return houseOf(path);
  return room.endsWith(".ts") ? path : `${houseOf(path)}/${room}`;
}

test("there are files and imports to check", () => {
  expect(files.length).toBeGreaterThan(300);
  expect(imports.length).toBeGreaterThan(1000);
  for (const { target } of internal) expect(files).toContain(target);
});

/** What is known of texts, and nothing of an API. */
const shared = ["inert-text", "path-patterns", "quotation", "untrusted"].map((name) => `src/runner-kit/${name}.ts`);

test("action → client; step → service; all → runner-kit, the service only for texts; nothing else between the houses", () => {
  const houses: Record<string, string[]> = {
    action: ["client", "runner-kit"],
    client: ["runner-kit"],
    "runner-kit": [],
    service: [],
    step: ["service", "runner-kit"],
  };
  expect([...new Set(files.map(houseOf))].sort()).toEqual(Object.keys(houses).sort());
  const others = internal.filter(({ file, target }) => {
    const [from, to] = [houseOf(file), houseOf(target)];
    return from !== to && !houses[from]?.includes(to) && !(from === "service" && shared.includes(target));
  });
  expect(others.map(format)).toEqual([]);
});

test("the checks of a service share nothing with the client or our own service", () => {
  const checks = globSync("tools/conform/*.ts", { cwd: root }).map((file) => file.replaceAll(sep, "/"));
  const targets = checks.flatMap(importsOf).map(({ target }) => target);
  expect(targets.filter((target) => !/^(node:|tools\/conform\/)/.test(target))).toEqual([]);
});

/** Returns each circle in a graph, as text. */
function circlesIn(targets: ReadonlyMap<string, readonly string[]>): string[] {
  const finished = new Set<string>();
  const path: string[] = [];
  const circles: string[] = [];
  const visit = (node: string): void => {
    if (path.includes(node)) circles.push([...path.slice(path.indexOf(node)), node].join(" → "));
    if (path.includes(node) || finished.has(node)) return;
    path.push(node);
    for (const target of targets.get(node) ?? []) visit(target);
    path.pop();
    finished.add(node);
  };
  for (const node of targets.keys()) visit(node);
  return circles;
}

test("no files import each other in a circle, type imports included", () => {
  const targets = new Map(
    files.map((file) => [file, internal.filter((one) => one.file === file).map((one) => one.target)]),
  );
  expect(circlesIn(targets)).toEqual([]);
});

/** Files without a room that every room of the service may use. They use nothing but each other. */
const groundFloor = [
  "code-block.ts",
  "cost.ts",
  "error-message.ts",
  "loose-search.ts",
  "machine.ts",
  "model.ts",
  "one-line.ts",
  "own-file.ts",
  "per-project.ts",
  "prompt-hash.ts",
  "remove-directory.ts",
  "secret-patterns.ts",
  "service-folder.ts",
  "service-secrets.ts",
  "store-errors.ts",
  "time.ts",
].map((file) => `service/src/${file}`);

test("the ground floor of the service stands on nothing", () => {
  const others = internal.filter(
    ({ file, target }) => groundFloor.includes(file) && ![...groundFloor, ...shared].includes(target),
  );
  expect(others.map(format)).toEqual([]);
});

/** Files of the action without a room: what a run is, and what it does. */
function run(...names: string[]): string[] {
  return names.map((name) => `src/action/${name}.ts`);
}

/** For each room, the rooms and files of its house that it uses, types included. `service/start` may use all. */
const arrows: Record<string, string[]> = {
  "action/changes": [
    "action/comments",
    "action/report",
    "action/runner",
    ...run("commit-jobs", "commit-of", "fenced", "result", "run", "settings"),
  ],
  "action/comments": [
    "action/memory",
    "action/report",
    "action/runner",
    ...run("base-branch", "fenced", "hash", "outcome", "plan", "result", "run", "settings", "step-key"),
  ],
  "action/inputs": [
    "action/changes",
    "action/comments",
    "action/runner",
    ...run("mintlify", "outcome", "result", "settings"),
  ],
  "action/memory": [
    "action/runner",
    ...run("commit-of", "hash", "plan", "pull-request", "result", "run", "run-job", "settings", "step-key"),
  ],
  "action/report": [
    "action/changes",
    "action/runner",
    ...run("mintlify", "outcome", "pull-request", "result", "run-state", "settings"),
  ],
  "action/runner": [],
  "service/access": ["service/http", "service/log"],
  "service/agents": ["service/processes"],
  "service/api": ["service/http", "service/jobs", "service/metrics", "service/store"],
  "service/editor": [],
  "service/git": ["service/processes"],
  "service/http": ["service/log", "service/metrics", "service/processes"],
  "service/jobs": ["service/log", "service/metrics", "service/store"],
  "service/log": [],
  "service/metrics": [],
  "service/options": ["service/access", "service/agents", "service/http", "service/jobs", "service/pulls"],
  "service/pages": ["service/git", "service/http", "service/jobs", "service/log", "service/pulls", "service/store"],
  "service/processes": [],
  "service/pulls": ["service/git", "service/metrics"],
  "service/store": ["service/log"],
  "service/turns": [
    "service/agents",
    "service/git",
    "service/log",
    "service/metrics",
    "service/processes",
    "service/pulls",
    "service/store",
  ],
  "service/upkeep": ["service/git", "service/log", "service/pulls", "service/store", "service/turns"],
};

test.each(Object.entries(arrows))("%s uses %j", (room, targets) => {
  const everywhere = [room, ...groundFloor, "client", "runner-kit"];
  const used = internal.filter(({ file }) => roomOf(file) === room).map(({ target }) => roomOf(target));
  expect([...new Set(used)].filter((target) => !everywhere.includes(target)).sort()).toEqual([...targets].sort());
});

test("no rooms of the service use each other in a circle", () => {
  expect(circlesIn(new Map(Object.entries(arrows).filter(([room]) => room.startsWith("service/"))))).toEqual([]);
});

test("report imports only types from other rooms of the action, and only those that write text import more from report", () => {
  const values = internal.filter(({ file, target, isType }) => !isType && roomOf(file) !== roomOf(target));
  const isRoom = (path: string): boolean => !roomOf(path).endsWith(".ts") && houseOf(path) === "action";
  const outward = values.filter(({ file, target }) => roomOf(file) === "action/report" && isRoom(target));
  expect(outward.map(format)).toEqual([]);
  const inward = values.filter(({ file, target }) => roomOf(target) === "action/report" && isRoom(file));
  expect([...new Set(inward.map(({ file }) => roomOf(file)))].sort()).toEqual(["action/changes", "action/comments"]);
});

test("every room has a rule", () => {
  const rooms = new Set(files.map(roomOf).filter((room) => !room.endsWith(".ts") && room.includes("/")));
  expect([...rooms].sort()).toEqual([...Object.keys(arrows), "service/start"].sort());
});

test("nothing imports an entry point", () => {
  const users = internal.filter(({ target }) => /(^|\/)(index|main)\.ts$/.test(target)).map(format);
  expect(users).toEqual(["src/action/start.ts → src/action/main.ts"]);
});

/** Files that only some runs need, and the files that load each when it is needed. */
const onDemand: Record<string, string> = {
  "src/action/changes/find-section.ts": "src/action/own-change.ts, src/action/plan.ts",
  "src/action/comment-mode.ts": "src/action/main.ts",
  "src/action/send-once.ts": "src/action/main.ts",
  "src/action/runner/github.ts": "src/action/start.ts",
  "src/action/runner/id-token.ts": "src/action/start.ts",
  "src/runner-kit/connect-cache.ts": "src/action/start.ts",
  "service/src/access/open-authenticator.ts": "service/src/start/serve.ts",
  "service/src/access/run-key-command.ts": "service/src/main.ts",
  "service/src/access/workflow-tokens.ts": "service/src/access/open-authenticator.ts",
  "service/src/log/json-printer.ts": "service/src/log/service-log.ts",
  "service/src/metrics/prometheus.ts": "service/src/start/serve.ts",
  "service/src/start/serve.ts": "service/src/main.ts",
  "service/src/store/postgres/import-store.ts": "service/src/main.ts",
  "service/src/store/postgres/open-store.ts": "service/src/start/open-postgres.ts",
};

test.each(Object.entries(onDemand))("%s is only loaded on demand, by %s", (file, loaders) => {
  const users = internal.filter(({ target, isType }) => target === file && !isType);
  const room = dirname(file);
  const fromOutside = users.filter((one) => one.isDynamic || room !== dirname(one.file));
  const expected = loaders.split(", ").map((user) => ({ user, isDynamic: true }));
  expect(fromOutside.map((one) => ({ user: one.file, isDynamic: one.isDynamic }))).toEqual(expected);
});

/** Returns the files that are loaded with a file. */
function loadedWith(file: string, found = new Set<string>()): Set<string> {
  for (const { target } of internal.filter((one) => one.file === file && !one.isType && !one.isDynamic))
    if (!found.has(target)) loadedWith(target, found.add(target));
  return found;
}

test("a step loads what only some settings need on demand", () => {
  const loaded = [...loadedWith("src/action/start.ts")];
  expect(loaded.length).toBeGreaterThan(40);
  const onlyForSome =
    /^src\/(action\/(comment-mode|memory\/|send-once|comments\/(conversation|request|thread|review|command|marker)|changes\/(find|range|section|repository)|runner\/(github|id-token)\.)|runner-kit\/(connect-cache|cache-client))/;
  expect(loaded.filter((file) => onlyForSome.test(file))).toEqual([]);
  // Loading zod takes a ninth of a short step, and most steps save what they sent.
  const saving = [...loaded, ...loadedWith("src/action/send-once.ts")];
  const packages = imports.filter(({ file, isType }) => saving.includes(file) && !isType).map(({ target }) => target);
  expect([...new Set(packages.filter((target) => !/^node:|\.ts$/.test(target)))]).toEqual(["@actions/core"]);
});

test("the service of a step loads neither keys in a file, nor metrics, nor Postgres", () => {
  const loaded = [...loadedWith("service/step/action-child.ts")];
  expect(loaded.length).toBeGreaterThan(100);
  const unused = /^service\/src\/(access|metrics\/prometheus|store\/postgres|log\/json)/;
  expect(loaded.filter((file) => unused.test(file))).toEqual(["service/src/access/trust-rule.ts"]);
});

test("the service loads what only some settings need on demand", () => {
  const loaded = [...loadedWith("service/src/start/serve.ts")];
  expect(loaded.length).toBeGreaterThan(100);
  const onlyForSome = /^service\/src\/(access\/(open|run|workflow)|metrics\/prometheus|store\/postgres|log\/json)/;
  expect(loaded.filter((file) => onlyForSome.test(file))).toEqual([]);
});

test("a command of the service does not load the service", () => {
  const loaded = [...loadedWith("service/src/main.ts")];
  expect(loaded).toContain("service/src/options/command-line.ts");
  const ofService = /^service\/src\/(start\/serve|turns|pages|git|store|api)\b/;
  expect(loaded.filter((file) => ofService.test(file))).toEqual([]);
});

test("each package is imported in few places, by a house that depends on it", () => {
  const packages = imports.filter(
    ({ target, isType }) => !isType && !target.endsWith(".ts") && !/^(node:|zod\/)/.test(target),
  );
  const places = packages.map(
    ({ file, target }) => `${houseOf(file) === "service" ? dirname(file) : file} → ${target}`,
  );
  expect([...new Set(places)].sort()).toEqual([
    "service/src/access → jose",
    "service/src/agents/presets → aws4fetch",
    "service/src/git → lru-cache",
    "service/src/jobs → p-limit",
    "service/src/log → pino",
    "service/src/metrics → prom-client",
    "service/src/pages → lru-cache",
    "service/src/pages → p-limit",
    "service/src/pulls/github → @octokit/core",
    "service/src/pulls/github → lru-cache",
    "service/src/pulls/github → p-limit",
    "service/src/store → tar",
    "service/src/store/postgres → pg",
    "service/src/store/postgres → pg-boss",
    "service/src/store/sqlite → p-limit",
    "service/step/runner.ts → @actions/core",
    "src/action/changes/version-order.ts → semver/functions/coerce.js",
    "src/action/changes/version-order.ts → semver/functions/compare.js",
    "src/action/runner/github.ts → @actions/github",
    "src/action/runner/github.ts → @actions/github/lib/utils",
    "src/action/runner/github.ts → @octokit/plugin-retry",
    "src/action/runner/github.ts → @octokit/plugin-throttling",
    "src/action/runner/toolkit.ts → @actions/core",
    "src/runner-kit/shown-text.ts → mdast-util-from-markdown",
  ]);
  for (const [folder, start] of Object.entries({ ".": "src/", service: "service/" })) {
    const { dependencies } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const used = imports.filter(({ file, target }) => file.startsWith(start) && !/^(node:)|\.ts$/.test(target));
    const names = used.map(({ target }) => /^(@[^/]+\/)?[^/]+/.exec(target)?.[0]);
    const ofStubs = folder === "." ? ["whole-undici"] : [];
    expect(Object.keys(dependencies).sort()).toEqual([...new Set([...names, ...ofStubs])].sort());
  }
});

test("the action and the client use the network and the file system in one file per purpose", () => {
  const users = (pattern: RegExp) => {
    const found = imports.filter(({ file, target }) => file.startsWith("src/") && pattern.test(target));
    return [...new Set(found.map(({ file }) => file))].sort();
  };
  expect(users(/^node:(https?|net|tls)$/)).toEqual(["src/runner-kit/transport.ts"]);
  expect(users(/^node:fs/)).toEqual([
    "src/action/inputs/prompt-file.ts",
    // Whether there is a transcript.
    "src/action/own-agent.ts",
    "src/action/runner/environment.ts",
    "src/action/runner/toolkit.ts",
    // Whether an agent's program is installed.
    "src/runner-kit/agent-service.ts",
  ]);
});
