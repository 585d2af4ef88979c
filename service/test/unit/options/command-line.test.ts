import { expect, test } from "vitest";
import { parseCommandLine } from "../../../src/options/command-line.ts";

const parse = (line: string) => parseCommandLine(line.split(" "), {});
const job = "job_00000000-0000-0000-0000-000000000001";
const inFile = { file: "jobs.sqlite" };
const url = "postgresql:///agents";

test.each([
  ["--repository docs", { kind: "serve", options: { projects: ["demo"], role: undefined } }],
  ["--help --repository docs", { kind: "help", text: expect.stringContaining("--repository PATH-OR-URL") }],
  ["worker --help", { kind: "help", text: expect.stringContaining("--repository PATH-OR-URL") }],
  ["jobs --help", { kind: "help", text: expect.stringContaining("jobs retry JOB") }],
  ["key list --keys keys.json", { kind: "keys", command: { command: "list", file: "keys.json" } }],
  ["backup b --store a", { kind: "copy", store: "a", target: { file: "b" } }],
  ["backup --store=a b", { kind: "copy", store: "a", target: { file: "b" } }],
  ["backup b --store of-postgres:5432.sqlite", { kind: "copy", store: "of-postgres:5432.sqlite" }],
  [`export ${url} --store a`, { kind: "copy", store: "a", target: { url, schema: undefined } }],
  [`export ${url} --store a --schema staging`, { kind: "copy", target: { url, schema: "staging" } }],
  ["migrate --store postgres://db", { kind: "migrate", postgres: { url: "postgres://db", schema: undefined } }],
  ["migrate --store postgres://db --schema a_1", { kind: "migrate", postgres: { schema: "a_1" } }],
  ["jobs list --store jobs.sqlite", { kind: "jobs", command: { command: "list" }, store: inFile }],
  [
    "jobs list failed --project docs --store postgres://db/agents",
    {
      kind: "jobs",
      command: { command: "list", status: "failed", projects: ["docs"] },
      store: { url: "postgres://db/agents" },
    },
  ],
  [`jobs patch ${job} --store a`, { kind: "jobs", command: { command: "patch", job } }],
  [`jobs show ${job} --format json --store a`, { kind: "jobs", command: { command: "show", job, isJson: true } }],
  [`jobs stop ${job} 7 --store a`, { kind: "jobs", command: { command: "stop", job, turn: 7 } }],
  [`jobs stop ${job} --store a`, { kind: "jobs", command: { command: "stop", job, turn: undefined } }],
  [`jobs retry ${job} --store a`, { kind: "jobs", command: { command: "retry", job } }],
])("%s", (line, command) => {
  expect(parse(line)).toMatchObject(command);
});

test.each([
  ["key", "key requires --keys FILE."],
  ["--port 1", "--repository is required, or --config."],
  [
    "start --repository docs",
    "Unknown command start. The commands are api, worker, backup, export, migrate, jobs, key.",
  ],
  ["toString", "Unknown command toString."],
  ["api --repository docs", "api requires --store postgres://..., the store that all processes share."],
  ["--repository docs --scope read", "Unknown option '--scope'"],
  ["--repository docs --agents 1 --agents=1", "--agents is given twice."],
  ["--config=/nowhere.json", "The --config file cannot be read: "],
  ["migrate --store jobs.sqlite", "migrate requires --store postgres://"],
  ["migrate --store postgres://db --agents 1", "--agents"],
  ["migrate now --store postgres://db", "Unexpected argument 'now'"],
  ["backup --store a", "backup requires a file, and with --store the store to copy."],
  ["backup b", "backup requires a file"],
  ["backup b c --store a", "backup requires a file"],
  ["backup b --store a --store c", "backup requires a file"],
  ["backup b --store=", "backup requires a file"],
  ["backup b --store a --agents=2", "--agents"],
  ["backup b --store postgres://host/db", "Use pg_dump"],
  ["backup b --store postgresql://host/db", "Use pg_dump"],
  ["export b --store a", "export requires a postgres:// URL, and with --store the file to copy."],
  ["export of-postgres://host/db --store a", "export requires a postgres:// URL"],
  ["export postgres://host/db", "export requires a postgres:// URL"],
  ["export postgres://host/db --store postgres://host/other", "export requires a postgres:// URL"],
  ["export postgres://host/db --store a --schema A", "--schema must have at most 40"],
  ["jobs patch job_1 --store a", "job_1 is not the id of a job."],
  [`jobs patch ${job} --format json --store a`, "--format is an option of jobs list and jobs show."],
  ["jobs list", "jobs requires --store"],
  ["jobs --store a", "jobs must be followed by"],
  ["jobs list late --store a", "jobs list takes one of active"],
  ["jobs stop job_1 --store a", "job_1 is not the id of a job."],
  [`jobs stop ${job} x --store a`, "x is not a turn."],
  [`jobs retry ${job} 7 --store a`, "jobs must be followed by"],
  [`jobs retry ${job} --format json --store a`, "--format is an option of jobs list and jobs show."],
  [`jobs retry ${job} --project docs --store a`, "--project is an option of jobs list."],
])("rejects %s", (line, reason) => {
  expect(parse(line)).toEqual({ kind: "invalid", error: expect.stringContaining(reason) });
});
