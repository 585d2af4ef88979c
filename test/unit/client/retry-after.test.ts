import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseRetryAfter } from "../../../src/client/retry-after.ts";

const now = Date.UTC(2026, 0, 1);

describe("Retry-After", () => {
  test.each([
    ["1", 1000],
    ["3600", 3_600_000],
    [" 7 ", 7000],
    ["Thu, 01 Jan 2026 00:00:05 GMT", 5000],
    ["Thursday, 01-Jan-26 00:00:05 GMT", 5000],
    ["Thu Jan  1 00:00:05 2026", 5000],
    ["Mon Jan 12 00:00:05 2026", 11 * 86_400_000 + 5000],
  ])("accepts %s", (value, ms) => {
    expect(parseRetryAfter(value, undefined, now)).toBe(ms);
  });

  test.each(["31536001", "9".repeat(40), "Fri, 31 Dec 9999 23:59:59 GMT"])(
    "takes no more than a year from %s",
    (value) => {
      expect(parseRetryAfter(value, undefined, now)).toBe(31_536_000_000);
    },
  );

  test.each([
    undefined,
    "",
    "0",
    "-1",
    "+5",
    "1.5",
    "1e3",
    "0x10",
    "soon",
    "5 s",
    "5, 6",
    "Thu, 01 Jan 2026 00:00:00 GMT",
    "Wed, 31 Dec 2025 23:59:59 GMT",
    "2026-01-01T00:00:05Z",
    "Thu, 99 Foo 2026 00:00:05 GMT",
    "on Thu, 01 Jan 2026 00:00:05 GMT",
    "Thu, 01 Jan 2026 00:00:05 GMT+1",
    "on Thu Jan  1 00:00:05 2026",
    "Thu Jan  1 00:00:05 2026 x",
    "Thu, 01 Jan 2026 00:00:05 GMT (winter)",
    "Thursday, 01-Jan-26 00:00:05 GMT (winter)",
    "Thu Jan  1 00:00:05 2026 (winter)",
  ])("ignores %s", (value) => {
    expect(parseRetryAfter(value, undefined, now)).toBeUndefined();
  });

  test.each([
    ["an hour behind", -3_600_000],
    ["an hour ahead", 3_600_000],
  ])("measures a date by the response's own Date, with a clock that is %s", (_name, offMs) => {
    const date = new Date(now).toUTCString();
    expect(parseRetryAfter(new Date(now + 5000).toUTCString(), date, now + offMs)).toBe(5000);
    expect(parseRetryAfter(date, date, now + offMs)).toBeUndefined();
    expect(parseRetryAfter("7", date, now + offMs)).toBe(7000);
  });

  test("accepts spaces around the response's own Date", () => {
    const date = ` ${new Date(now).toUTCString()} `;
    expect(parseRetryAfter(new Date(now + 5000).toUTCString(), date, 0)).toBe(5000);
  });

  test.each(["", "yesterday", "2026-01-01T00:00:00Z"])("ignores a Date that cannot be read: %j", (date) => {
    expect(parseRetryAfter(new Date(now + 5000).toUTCString(), date, now)).toBe(5000);
  });

  test("returns at most a year, more than nothing, or undefined for any value", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
          fc.nat().map(String),
        ),
        (value) => {
          const ms = parseRetryAfter(value, undefined, now);
          expect(ms === undefined || (ms > 0 && ms <= 31_536_000_000)).toBe(true);
        },
      ),
    );
  });
});
