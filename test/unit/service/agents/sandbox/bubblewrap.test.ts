import { expect, test } from "vitest";
import { explainBubblewrapError } from "../../../../../src/service/agents/sandbox/bubblewrap.ts";

test.runIf(process.platform === "linux")("says what to do if bubblewrap cannot run", () => {
  expect(explainBubblewrapError("spawn bwrap ENOENT")).toMatch(
    /is not installed.*apt-get install bubblewrap.*--sandbox none/,
  );
  const denied = explainBubblewrapError("bwrap: setting up uid map: Permission denied");
  for (const part of ["setting up uid map: Permission denied", "AppArmor", "container", "--sandbox none"])
    expect(denied).toContain(part);
});
