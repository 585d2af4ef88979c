import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve, sep } from "node:path";
import { expect, test } from "vitest";
import { root } from "../support/metadata.ts";

const source = resolve(root, "src");
const files = globSync("**/*.ts", { cwd: source }).map((file) => file.replaceAll(sep, "/"));

interface Import {
  file: string;
  /** The path in `src` for a file, the name for a package. */
  target: string;
  isType: boolean;
  isDynamic: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(source, file), "utf8");
  const pattern = /(?:^import (type )?[^"]*?|^export [^"]*? from |import(\())\s*"([^"]+)"/gm;
  return [...text.matchAll(pattern)].map(([, type, dynamic, specifier = ""]) => ({
    file,
    target: specifier.startsWith(".") ? normalize(join(dirname(file), specifier)).replaceAll(sep, "/") : specifier,
    isType: type !== undefined,
    isDynamic: dynamic !== undefined,
  }));
}

const imports = files.flatMap(importsOf);
const format = ({ file, target }: Import) => `${file} → ${target}`;

/** The folder below `src`, and the room in it: `action/report`, `service/jobs`, `action`, `client`, `service`. */
function roomOf(path: string): string {
  const [part = "", room = ""] = path.split("/");
  return ["action", "service"].includes(part) && !room.endsWith(".ts") ? `${part}/${room}` : part;
}

test("there are files and imports to check", () => {
  expect(files.length).toBeGreaterThan(50);
  expect(imports.length).toBeGreaterThan(200);
  for (const { target } of imports) if (target.endsWith(".ts")) expect(files).toContain(target);
});

const part = (path: string) => path.split("/")[0] ?? "";

test("the action uses the client, and the service shares no code with either", () => {
  const crossings = imports.filter(
    ({ file, target }) => ["action", "client", "service"].includes(part(target)) && part(file) !== part(target),
  );
  const others = crossings.filter(
    ({ file, target }) => part(file) !== "service-step" && (part(file) !== "action" || part(target) !== "client"),
  );
  expect(others.map(format)).toEqual([]);
});

test("the service's step uses of the action only the escaping and the cache, and nothing uses the step", () => {
  const used = imports.filter(({ file, target }) => part(file) === "service-step" && part(target) === "action");
  expect([...new Set(used.map(({ target }) => target))].sort()).toEqual([
    "action/report/text.ts",
    "action/report/untrusted.ts",
    "action/runner/cache-folder.ts",
    "action/runner/cache-process.ts",
    "action/runner/cache.ts",
    "action/runner/run-cache-process.ts",
  ]);
  const packages = imports.filter(
    ({ file, target }) => part(file) === "service-step" && /^(@|[a-z])[^:]*$/.test(target) && !target.endsWith(".ts"),
  );
  expect(packages.map(format).sort()).toEqual([
    "service-step/memory/job-entry.ts → zod/mini",
    "service-step/runner.ts → @actions/core",
  ]);
  const users = imports.filter(({ file, target }) => part(file) !== "service-step" && part(target) === "service-step");
  expect(users.map(format)).toEqual([]);
});

/** For each room, the rooms and files whose code it may use. */
const arrows: Record<string, string[]> = {
  "action/report": ["client", "action/outcome.ts", "action/result.ts", "action/mintlify.ts"],
  "action/inputs": [
    "client/protected-url.ts",
    "action/report",
    "action/comments",
    "action/changes/paths.ts",
    "action/changes/since.ts",
    "action/outcome.ts",
    "action/mintlify.ts",
  ],
  "action/comments": ["client", "action/outcome.ts", "action/result.ts", "action/runner/github-error.ts"],
  "action/runner": ["client"],
  "action/refresh": ["client", "action/result.ts", "action/pull-request.ts", "action/runner/cache.ts"],
  "action/changes": [
    "client",
    "action/report",
    "action/result.ts",
    "action/comments/event.ts",
    "action/runner/github-error.ts",
  ],
  "service/access": [
    "service/http/authentication.ts",
    "service/http/http-exception.ts",
    "service/error-message.ts",
    "service/outage-log.ts",
  ],
  "service/http": [
    "service/processes",
    "service/store/errors.ts",
    "service/error-message.ts",
    "service/log-context.ts",
  ],
  "service/metrics": [],
  "service/pages": [
    "service/http",
    "service/jobs/commit-title.ts",
    "service/pulls/state-error-log.ts",
    "service/store/errors.ts",
    "service/error-message.ts",
    "service/own-file.ts",
  ],
  "service/jobs": [
    "service/agents",
    "service/git",
    "service/pulls",
    "service/processes/resource-exhausted.ts",
    "service/store/errors.ts",
    "service/store/ready-turns.ts",
    "service/metrics/metrics.ts",
    "service/error-message.ts",
    "service/log-context.ts",
    "service/outage-log.ts",
    "service/remove-directory.ts",
  ],
  "service/store": [
    "service/jobs/job-copies.ts",
    "service/jobs/job-directory.ts",
    "service/jobs/shared-homes.ts",
    "service/error-message.ts",
    "service/outage-log.ts",
  ],
  "service/pulls": ["service/git", "service/error-message.ts"],
  "service/agents": ["service/processes", "service/own-file.ts"],
  "service/git": ["service/processes", "service/own-file.ts", "service/remove-directory.ts"],
  "service/processes": [],
  "service/editor": [],
};

test.each(Object.entries(arrows))("%s only uses the code of %j and its own", (room, targets) => {
  const values = imports.filter(({ target, isType }) => !isType && target.endsWith(".ts"));
  const others = values.filter(
    ({ file, target }) =>
      roomOf(file) === room && ![room, ...targets].includes(roomOf(target)) && !targets.includes(target),
  );
  expect(others.map(format)).toEqual([]);
});

test("every room has a rule", () => {
  const rooms = new Set(files.map(roomOf).filter((room) => room.includes("/")));
  expect([...rooms].sort()).toEqual(Object.keys(arrows).sort());
});

test("each package of the action is imported by one file", () => {
  const packages = imports
    .filter(({ file, target }) => file.startsWith("action/") && /^@(actions|octokit)\//.test(target))
    .map(format);
  expect(packages.sort()).toEqual([
    "action/runner/cache-process.ts → @actions/cache",
    "action/runner/github.ts → @actions/github",
    "action/runner/github.ts → @octokit/plugin-retry",
    "action/runner/github.ts → @octokit/plugin-throttling",
    "action/runner/toolkit.ts → @actions/core",
  ]);
});

test("the client for GitHub is only loaded on demand", () => {
  const users = imports.filter(({ target, isType }) => target === "action/runner/github.ts" && !isType);
  expect(users.map(({ file, isDynamic }) => ({ file, isDynamic }))).toEqual([
    { file: "action/start.ts", isDynamic: true },
  ]);
});

test("what requests OIDC tokens is only loaded on demand", () => {
  const users = imports.filter(({ target, isType }) => target === "action/runner/id-token.ts" && !isType);
  expect(users.map(({ file, isDynamic }) => ({ file, isDynamic }))).toEqual([
    { file: "action/start.ts", isDynamic: true },
  ]);
});

test("@actions/cache is only loaded on demand", () => {
  const users = imports.filter(({ target }) => target === "action/runner/cache-process.ts");
  expect(users.filter(({ isDynamic }) => !isDynamic).map(format)).toEqual([]);
});

test("the network and the file system are used by one file per purpose", () => {
  const users = (pattern: RegExp) => [
    ...new Set(
      imports
        .filter(({ file, target }) => !part(file).startsWith("service") && pattern.test(target))
        .map(({ file }) => file)
        .sort(),
    ),
  ];
  expect(users(/^node:(https?|net|tls)$/)).toEqual(["client/transport.ts"]);
  expect(users(/^node:fs/)).toEqual([
    "action/inputs/prompt-file.ts",
    "action/runner/cache-folder.ts",
    "action/runner/cache.ts",
    "action/runner/event-file.ts",
    "action/runner/toolkit.ts",
  ]);
});

test("the service uses few packages besides Node, each in one place", () => {
  const packages = imports.filter(
    ({ file, target, isType }) =>
      file.startsWith("service/") && !isType && !target.endsWith(".ts") && !target.startsWith("node:"),
  );
  expect([...new Set(packages.map(({ file, target }) => `${dirname(file)} → ${target}`))].sort()).toEqual([
    "service → pino",
    "service → zod/mini",
    "service/access → jose",
    "service/access → zod/mini",
    "service/jobs → tar",
    "service/metrics → prom-client",
    "service/pages → lru-cache",
    "service/pages → p-limit",
    "service/pulls/github → @octokit/core",
    "service/pulls/github → @octokit/plugin-retry",
    "service/pulls/github → @octokit/plugin-throttling",
    "service/pulls/github → zod/mini",
    "service/store/postgres → pg",
    "service/store/postgres → pg-boss",
    "service/store/sqlite → p-limit",
  ]);
});

test("nothing imports an entry point", () => {
  const users = imports.filter(({ target }) => /(^|\/)(index|main)\.ts$/.test(target)).map(format);
  expect(users).toEqual(["action/start.ts → action/main.ts"]);
});

test("only a service with a file of keys or trusted workflows loads what that needs", () => {
  const onDemand = ["open-authenticator.ts", "run-key-command.ts", "workflow-tokens.ts"];
  const users = imports.filter(
    ({ target, isType }) => onDemand.includes(target.replace("service/access/", "")) && !isType,
  );
  expect(users.map((one) => `${format(one)}${one.isDynamic ? "" : ", always"}`).sort()).toEqual([
    "service/access/open-authenticator.ts → service/access/workflow-tokens.ts",
    "service/main.ts → service/access/open-authenticator.ts",
    "service/main.ts → service/access/run-key-command.ts",
  ]);
  const loaded = [...importedBy("service-step/server.ts")].filter((file) => file.startsWith("service/access/"));
  expect(loaded).toEqual(["service/access/trust-rule.ts"]);
});

/** Returns the files that are loaded with a file. */
function importedBy(file: string, found = new Set<string>()): Set<string> {
  for (const { target } of imports.filter((one) => one.file === file && !one.isType && !one.isDynamic))
    if (target.endsWith(".ts") && !found.has(target)) importedBy(target, found.add(target));
  return found;
}

test("only the process of the service loads what metrics and JSON need, and only then", () => {
  const users = imports.filter(
    ({ target, isType }) => !isType && ["service/metrics/prometheus.ts", "service/json-printer.ts"].includes(target),
  );
  expect(users.map(({ file, isDynamic }) => ({ file, isDynamic }))).toEqual([
    { file: "service/main.ts", isDynamic: true },
    { file: "service/service-log.ts", isDynamic: true },
  ]);
  const printers = imports.filter(({ target, isType }) => !isType && target === "service/service-log.ts");
  expect(printers.map(format)).toEqual(["service/main.ts → service/service-log.ts"]);
});

test("only a service with a Postgres store loads what that needs", () => {
  const inPostgres = (path: string) => path.startsWith("service/store/postgres/");
  const users = imports.filter(({ file, target, isType }) => inPostgres(target) && !inPostgres(file) && !isType);
  expect(users.map(({ file, isDynamic }) => ({ file, isDynamic }))).toEqual([
    { file: "service/main.ts", isDynamic: true },
    { file: "service/main.ts", isDynamic: true },
  ]);
  const homes = imports.filter(({ target, isType }) => target === "service/jobs/shared-homes.ts" && !isType);
  expect(homes.map(format)).toEqual(["service/store/postgres/open-store.ts → service/jobs/shared-homes.ts"]);
});
