import { expect, test } from "vitest";
import { shortRef } from "../../../../src/action/report/changes-text.ts";

const commit = "0123456789abcdef0123456789abcdef01234567";

test("shortens a commit id, and no other ref that contains one", () => {
  expect(shortRef(commit)).toBe("0123456");
  for (const ref of [`backup/${commit}`, `${commit}-backup`, "v1.2.3"]) expect(shortRef(ref)).toBe(ref);
});
