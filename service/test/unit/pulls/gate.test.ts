import { expect, test } from "vitest";
import { GitHubGate } from "../../../src/pulls/github/gate.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

test("a clock that is set back by an hour makes nobody wait longer", async () => {
  const machine = new FakeMachine();
  const gate = new GitHubGate({ machine });
  gate.limit("rest", 30, false);
  machine.setWallTime(machine.wallTime() - 3_600_000);
  expect(gate.limitedMs("rest")).toBe(30_000);
  machine.pass(30_000);
  expect(gate.limitedMs("rest")).toBe(0);
  const { signal } = new AbortController();
  await gate.send(true, async () => {}, signal);
  machine.setWallTime(machine.wallTime() - 3_600_000);
  machine.pass(1000);
  // A second after the last write, without a wait.
  expect(await gate.send(true, async () => "sent", signal)).toBe("sent");
});
