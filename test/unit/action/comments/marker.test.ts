import fc from "fast-check";
import { expect, test } from "vitest";
import { formatMarker, parseMarker } from "../../../../src/action/comments/marker.ts";
import { hostileText } from "../../../support/hostile-text.ts";

const usableId = hostileText
  .map((text) => text.toWellFormed().replaceAll(/\p{Cc}/gu, ""))
  .filter((id) => !["", ".", ".."].includes(id));

const request = fc
  .tuple(fc.constantFrom("comment", "review", "run"), fc.nat())
  .map(([kind, id]) => `${kind}=${id} step=${"0af5".repeat(8)}` as const);

test("a marker is one line and is parsed as written, for any usable ids", () => {
  fc.assert(
    fc.property(usableId, usableId, request, fc.nat(), (projectId, jobId, request, attempt) => {
      const marker = { projectId, jobId, request, attempt, kind: "job" as const };
      const line = formatMarker(marker);
      expect(line).not.toContain("\n");
      expect(line.indexOf("-->")).toBe(line.length - 3);
      expect(parseMarker(`text\n\n${line}`)).toEqual(marker);
    }),
  );
});
