import { expect, test } from "vitest";
import { previousVersion } from "../../../../src/action/changes/version-order.ts";

test.each<[tag: string, tags: string[], previous: string | undefined]>([
  ["v1.10.0", ["v1.9.0", "v1.2.0", "v1.10.0", "v2.0.0"], "v1.9.0"],
  ["v2.0.0", ["v2.0.0-rc.1", "v1.9.0"], "v1.9.0"],
  ["v2.0.0-rc.2", ["v2.0.0-rc.1", "v1.9.0"], "v2.0.0-rc.1"],
  ["v2.0.0-rc.1", ["v1.9.0", "v2.0.0-rc.2"], "v1.9.0"],
  ["v2.0.0-rc.10", ["v2.0.0-rc.9", "v2.0.0-rc.2"], "v2.0.0-rc.9"],
  ["v10.0.0", ["v9.9.9", "v1.0.0"], "v9.9.9"],
  ["1.1", ["1.0", "0.9.5"], "1.0"],
  ["2026.11", ["2026.10", "2025.12"], "2026.10"],
  ["core@1.2.0", ["cli@1.1.9", "core@1.1.0", "1.1.5"], "core@1.1.0"],
  ["v1.0.1+build.5", ["v1.0.0"], "v1.0.0"],
  // Of tags of the same version, the first one counts.
  ["v1.1.0", ["v1.0.0+build.1", "v1.0", "v1.0.0"], "v1.0.0+build.1"],
  ["v1.0.0", ["v1.0.0", "v1.1.0"], undefined],
  ["v1.0.0", [], undefined],
  ["nightly", ["v1.0.0"], undefined],
  ["v1.0.0", ["nightly", "latest"], undefined],
])("the version before %s in %j is %s", (tag, tags, previous) => {
  expect(previousVersion(tag, tags)).toBe(previous);
});
