import { expect, test } from "vitest";
import { parseCommandLine } from "../../../src/options/command-line.ts";
import { help } from "../../../src/options/help.ts";

const parse = (line: string) => parseCommandLine(line.split(" "), {});

test.each([
  ["--repository docs", { kind: "serve", options: { projects: ["demo"] } }],
  ["--help", { kind: "help", text: help }],
  ["key list --keys keys.json", { kind: "keys", command: { command: "list", file: "keys.json" } }],
  ["--store a --backup b", { kind: "copy", copy: { store: "a", target: { file: "b" } } }],
  ["migrate --store postgres://db", { kind: "migrate", postgres: { url: "postgres://db", schema: undefined } }],
  ["migrate --store postgres://db --schema a_1", { kind: "migrate", postgres: { schema: "a_1" } }],
  [
    "migrate --store jobs.sqlite",
    { kind: "invalid", error: expect.stringMatching(/^migrate requires --store postgres:/) },
  ],
  ["migrate --store postgres://db --agents 1", { kind: "invalid", error: expect.stringMatching(/--agents/) }],
  ["key", { kind: "invalid", error: "key requires --keys FILE." }],
  ["--backup=", { kind: "invalid", error: "--backup requires a file, and with --store the store to copy." }],
  ["--port 1", { kind: "invalid", error: "--repository is required, or --config." }],
  ["--config=/nowhere.json", { kind: "invalid", error: expect.stringMatching(/^The --config file cannot be read: /) }],
])("%s", (line, command) => {
  expect(parse(line)).toMatchObject(command);
});
