import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTerminal, type Job, parseBody, parseErrorMessage, parseJob } from "../../../src/client/contract.ts";
import { salvageId } from "../../../src/client/salvage-id.ts";

const empty: Omit<Job, "id" | "status"> = {
  model: "",
  repository: "",
  ref: "",
  prLink: "",
  createdAt: "",
  archivedAt: "",
  base: "",
  isKept: false,
  isUnfinished: false,
};

describe("a job record", () => {
  test("says whether work of its last turn is kept", () => {
    for (const [kept, isKept, isUnfinished] of [
      ["push", true, false],
      ["pull-request", true, false],
      ["unfinished", false, true],
      ["other", false, false],
      [true, false, false],
    ])
      expect(parseJob({ id: "a", status: "failed", kept })).toMatchObject({ isKept, isUnfinished });
  });

  test("needs only an id and a status", () => {
    expect(parseJob({ id: "a", status: "active" })).toEqual({ id: "a", status: "active", ...empty });
  });

  test.each([
    undefined,
    null,
    "active",
    [],
    [{ id: "a", status: "active" }],
    {},
    { id: "a" },
    { status: "active" },
    { id: "", status: "active" },
    { id: 1, status: "active" },
    { id: "a", status: null },
    { id: ".", status: "active" },
    { id: "..", status: "active" },
    { id: "\ud800", status: "active" },
    { id: "job\n1", status: "active" },
    { id: "job_1\u0000", status: "active" },
    { id: "\u0085job_1", status: "active" },
  ])("%j is rejected", (data) => {
    expect(parseJob(data)).toBeUndefined();
  });

  test("any data is either rejected or parsed into strings", () => {
    const field = fc.oneof(fc.string(), fc.constant(null), fc.jsonValue());
    const recordLike = fc.record(
      {
        id: field,
        status: field,
        source: fc.oneof(field, fc.record({ repository: field, ref: field }, { requiredKeys: [] })),
        model: field,
        prLink: field,
        createdAt: field,
        archivedAt: field,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(recordLike, fc.jsonValue()), (data) => {
        const job = parseJob(data);
        for (const [name, value] of Object.entries(job ?? {}))
          expect(typeof value).toBe(name === "isKept" || name === "isUnfinished" ? "boolean" : "string");
        if (job) expect(() => encodeURIComponent(job.id)).not.toThrow();
        if (job) expect(job.id).not.toMatch(/\p{Cc}/u);
        if (job) expect(salvageId(JSON.stringify(data), (text) => text)).toBe(job.id);
      }),
      { numRuns: 1000 },
    );
  });
});

test("only completed, archived and failed are terminal", () => {
  expect(["completed", "archived", "failed"].every(isTerminal)).toBe(true);
  expect(["active", "Completed", "done", "", "toString"].some(isTerminal)).toBe(false);
});

describe("a body", () => {
  test("is redacted in every string, however the string is escaped", () => {
    const redact = (text: string) => text.replaceAll("key", "***");
    expect(parseBody('{"a":["\\u006bey"],"b":{"c":"key"}}', redact)).toEqual({ a: ["***"], b: { c: "***" } });
  });

  test("that is not JSON is undefined", () => {
    fc.assert(fc.property(fc.string(), (body) => void parseErrorMessage(parseBody(body, (text) => text))));
    expect(parseBody("<html>", (text) => text)).toBeUndefined();
    expect(parseBody("[".repeat(100_000), (text) => text)).toBeUndefined();
  });

  test("of an error may contain the service's message", () => {
    expect(parseErrorMessage({ error: " Slow down " })).toBe("Slow down");
    expect(parseErrorMessage({ message: "Not now" })).toBe("Not now");
    expect(parseErrorMessage({ title: "Out", detail: "Out of credit" })).toBe("Out of credit");
    expect(parseErrorMessage(undefined, "error code: 1010\r\nmore")).toBe("error code: 1010");
    for (const body of [undefined, null, {}, { error: 1 }, "x"]) expect(parseErrorMessage(body, "")).toBe("");
    for (const page of ["<html>", "x".repeat(501)]) expect(parseErrorMessage(undefined, page)).toBe("");
  });
});
