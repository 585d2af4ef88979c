import { expect, test } from "vitest";
import { GitError } from "../../../src/git/git.ts";
import { outlast } from "../../../src/turns/outages.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

test.each<[what: string, tryMs: number, tries: number, message?: string]>([
  ["an outage is outlasted for ten seconds", 0, 4],
  ["a connection that hangs is given up", 65_000, 1],
  ["what is refused is refused", 0, 1, "GH013: Repository rule violations found"],
])("%s", async (_what, tryMs, expected, message = "The requested URL returned error: 502") => {
  const machine = new FakeMachine();
  const startedAt = machine.now();
  let tries = 0;
  const failing = outlast(
    async () => {
      tries++;
      machine.pass(tryMs);
      throw new GitError(["push"], "exited with 128", message, 128);
    },
    {
      wallTime: () => machine.wallTime(),
      sleep: async (ms) => machine.pass(ms),
    },
  );
  await expect(failing).rejects.toThrow(message);
  expect([tries, machine.now() - startedAt]).toEqual([expected, expected === 4 ? 10_000 : tryMs]);
});
