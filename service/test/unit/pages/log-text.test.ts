import fc from "fast-check";
import { expect, test } from "vitest";
import { fromNextCharacter, LogText } from "../../../src/pages/log-text.ts";

const text = fc.string({ unit: fc.constantFrom("a", "\n", "\r", "é", "✓", "😀", "\ufffd", "\u001b", "\u202e") });

/** Returns the texts of parts, with the rest at the end. */
function textsOf(parts: readonly Buffer[]): string[] {
  const reader = new LogText();
  return [...parts.map((part) => reader.add(part)), reader.end()];
}

/** Cuts bytes at some positions. */
function cut(bytes: Buffer, positions: readonly number[]): Buffer[] {
  const ends = [...positions.map((position) => position % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

test("the text of a log is the same however it is split into parts", () => {
  const bytes = fc.oneof(
    text.map((log) => Buffer.from(log)),
    fc.uint8Array().map((array) => Buffer.from(array)),
  );
  fc.assert(
    fc.property(bytes, fc.array(fc.nat()), (log, positions) => {
      expect(textsOf(cut(log, positions)).join("")).toBe(textsOf([log]).join(""));
    }),
  );
});

test("a reader can go on after any part, with the bytes that are in no text yet", () => {
  fc.assert(
    fc.property(text, fc.nat(), (log, position) => {
      const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = cut(Buffer.from(log), [position]);
      const before = new LogText();
      const shown = before.add(first);
      const rest = first.subarray(first.length - before.restBytes);
      expect(before.restBytes).toBeLessThanOrEqual(3);
      expect(shown + textsOf([Buffer.concat([rest, second])]).join("")).toBe(textsOf([Buffer.from(log)]).join(""));
    }),
  );
});

test("only a character that is not complete is held back", () => {
  for (const character of ["a", "\u0080", "é", "\u07ff", "\u0800", "✓", "\uffff", "😀"]) {
    const bytes = Buffer.from(`x${character}`);
    for (let end = 1; end <= bytes.length; end++) {
      const text = new LogText();
      const isWhole = end === bytes.length;
      const expected = isWhole && character !== "\u0080" ? `x${character}` : "x";
      expect([text.add(bytes.subarray(0, end)), text.restBytes]).toEqual([expected, isWhole ? 0 : end - 1]);
    }
  }
});

test("characters that control a terminal are removed, and those that reorder text are shown", () => {
  const log = Buffer.from("| a\tb\r\n| \u001b\u0000\u0007\u009bc \u202ed\u2066\n");
  expect(textsOf([log])).toEqual(["| a\tb\n| c [U+202e]d[U+2066]\n", ""]);
});

test("bytes that are no text are shown as such, also at the end", () => {
  expect(textsOf([Buffer.from([0x61, 0xff, 0x80]), Buffer.from([0xf0, 0x9f])])).toEqual([
    "a\ufffd\ufffd",
    "",
    "\ufffd",
  ]);
});

test("a part begins at its first whole character", () => {
  const log = Buffer.from("é✓😀x");
  const texts = Array.from(log, (_, position) => fromNextCharacter(log.subarray(position)).toString());
  expect(texts).toEqual(
    [..."é✓😀x"].flatMap((character, index, all) => {
      const rest = all.slice(index + 1).join("");
      return [character + rest, ...Array(Buffer.byteLength(character) - 1).fill(rest)];
    }),
  );
});
