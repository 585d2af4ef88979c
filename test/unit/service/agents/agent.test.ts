import { expect, test } from "vitest";
import { shellAgent } from "../../../../src/service/agents/agent.ts";

test("does not show a variable in front of an agent's command as its model", () => {
  expect(shellAgent("KEY=secret OTHER=1 my-agent -p").model).toBe("my-agent");
  expect(shellAgent("KEY=secret").model).toBe("agent");
});

test("needs the programs of both commands", () => {
  expect(shellAgent("KEY=x one --a", "two --b").programs).toEqual(["one", "two"]);
  expect(shellAgent("one --a").programs).toEqual(["one"]);
});
