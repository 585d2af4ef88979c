import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { runHostileTrees } from "../../hostile-trees/run.ts";

// `npm run hostile-trees` runs a thousand.
test.skipIf(process.platform !== "linux")(
  "turns with hostile trees end, and the service answers meanwhile",
  async () => {
    const { wrong, completed, failed } = await runHostileTrees({
      count: 6,
      seed: 3,
      timeLimitMs: 1000,
      folder: temporaryFolder(),
      log: () => {},
    });
    expect(wrong).toEqual([]);
    expect(completed + failed).toBe(6);
  },
);
