import fc from "fast-check";
import { expect, test } from "vitest";
import { anyText } from "../../../test/support/any-text.ts";
import { oneLine } from "../../src/one-line.ts";

test("keeps plain text, and escapes what is not text", () => {
  expect(oneLine(" naïve – 日本 \n")).toBe("naïve – 日本");
  expect(oneLine("a\nb\r\u0000\u2028\u200b\ud800c")).toBe("a\\nb\\u000d\\u0000\\u2028\\u200b\\ud800c");
});

test("keeps 500 characters, and shows that there were more", () => {
  const full = "x".repeat(500);
  expect(oneLine(full)).toBe(full);
  expect(oneLine(`${full}y`)).toBe(`${full}…`);
  expect(oneLine("\u001b".repeat(400))).toBe(`${"\\u001b".repeat(83)}\\u…`);
});

test("is one bounded line, whatever the text", () => {
  fc.assert(
    fc.property(anyText(2000), (text) => {
      const line = oneLine(text);
      expect(line.length).toBeLessThanOrEqual(501);
      expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Cf}]/u);
    }),
  );
});
