import { existsSync } from "node:fs";
import { basename, dirname } from "node:path";
import { expect, test } from "vitest";
import { builtInEditor, projectCommand, shellAgent } from "../../../src/agents/agent.ts";

test("does not show a variable in front of an agent's command as its model", () => {
  expect(shellAgent("KEY=secret OTHER=1 my-agent -p").model).toBe("my-agent");
  expect(shellAgent("KEY=secret").model).toBe("agent");
  // Nor where it is on the server.
  expect(shellAgent("/opt/name=x/agent.sh --all").model).toBe("agent.sh");
});

test("finds the program of a command, however it is written", () => {
  expect(shellAgent("  my-agent  -p ").model).toBe("my-agent");
  expect(shellAgent("KEY=x \t my-agent").programs).toEqual(["my-agent"]);
  expect(shellAgent("/opt/name=x/agent").programs).toEqual(["/opt/name=x/agent"]);
  expect(shellAgent(`'/opt/my agents/one' "two" three`).programs).toEqual(["/opt/my agents/one"]);
  expect(shellAgent(`KEY='a secret' OTHER="b c"d "/opt/my agents"/one`).programs).toEqual(["/opt/my agents/one"]);
});

test("gives an unknown program nothing but its command, the same for each turn", () => {
  const agent = shellAgent("KEY=x");
  expect(agent).toMatchObject({ passes: [], programs: [], reads: [], hosts: [], environment: {}, isTrusted: false });
  expect(agent.readReport("text")).toEqual({ message: undefined, error: undefined });
  for (const [result, message] of [
    ['{"message":"Done"}', "Done"],
    ["Done", "Done"],
    ['{"costUsd":1}', undefined],
    [" \n", undefined],
  ] as const)
    expect(agent.readReport("", result).message).toBe(message);
  for (const isFollowUp of [false, true])
    expect(shellAgent("one").command({ isFollowUp, isSandboxed: true }).args).toEqual(["-c", "one"]);
  expect(builtInEditor).toMatchObject({ passes: [], programs: [], hosts: [], isTrusted: true });
});

test("starts the built-in editor with what it may read", () => {
  const { file, args } = builtInEditor.command({ isFollowUp: false, isSandboxed: true });
  expect(file).toBe(process.execPath);
  expect(args.map((path) => basename(path))).toEqual(["main.ts"]);
  expect(args.every((path) => existsSync(path))).toBe(true);
  expect(builtInEditor.reads).toEqual(args.map((path) => dirname(path)));
});

test("needs the first program of its command", () => {
  expect(shellAgent("KEY=x one --a").programs).toEqual(["one"]);
  expect(shellAgent("one --a").programs).toEqual(["one"]);
});

test("reads what an unknown program wrote about its turn, and nothing of another type", () => {
  const read = (result: string) => shellAgent("x").readReport("text", result);
  expect(read('{"message":"Done.","costUsd":0.5,"more":1}')).toEqual({ message: "Done.", costUsd: 0.5 });
  for (const result of ["", "{", "null", "7", "[]", '{"message":7,"costUsd":"1"}', '{"message":" "}'])
    expect(read(result), result).toEqual({});
});

test("a command of a project sees the programs that it names, and no other file", () => {
  const { programs, reads, passes } = projectCommand(
    "cd website && /opt/bin/npm ci; python3 -m mkdocs -f docs/x.yml",
    [],
  );
  expect(programs).toContain("python3");
  expect(programs.filter((one) => one.includes("/"))).toEqual([]);
  expect(projectCommand("/opt/bin/build --strict", []).programs[0]).toBe("/opt/bin/build");
  expect([reads, passes]).toEqual([[], []]);
});
