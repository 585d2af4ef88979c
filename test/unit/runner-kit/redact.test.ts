import { describe, expect, test } from "vitest";
import { createRedactor } from "../../../src/runner-kit/redact.ts";

const keys = [
  "mint_a+b/c=0123456789",
  "mint_???>>>0123456789",
  "mint_&<>\"'\\%{}$^0123",
  "mint_abcdefghijklmnop",
  "ééééé_0123456789",
];

const base64 = (text: string) => Buffer.from(text).toString("base64");
const each = (text: string, encode: (character: string) => string) => [...text].map(encode).join("");
const codePoint = (character: string) => character.codePointAt(0) ?? 0;
const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const encodings: [string, (key: string) => string][] = [
  ["as it is", (key) => key],
  ["percent-encoded", encodeURIComponent],
  ["percent-encoded in lower case", (key) => encodeURIComponent(key).toLowerCase()],
  ["percent-encoded in every byte", (key) => Buffer.from(key).toString("hex").replace(/../g, "%$&")],
  ["HTML-escaped", (key) => each(key, (character) => entities[character] ?? character)],
  ["as decimal HTML references", (key) => each(key, (character) => `&#${codePoint(character)};`)],
  ["as hexadecimal HTML references", (key) => each(key, (character) => `&#x00${codePoint(character).toString(16)};`)],
  ["JSON-escaped", (key) => JSON.stringify(key).slice(1, -1)],
  ["JSON-escaped with slashes", (key) => JSON.stringify(key).slice(1, -1).replaceAll("/", "\\/")],
  ["as JSON code units", (key) => each(key, (unit) => `\\u${codePoint(unit).toString(16).padStart(4, "0")}`)],
  ["in hexadecimal", (key) => Buffer.from(key).toString("hex")],
  ["in upper-case hexadecimal", (key) => Buffer.from(key).toString("hex").toUpperCase()],
];

describe.each(keys)("the key %s", (key) => {
  // Created in each test, so that a fault in its construction is a fault of the test.
  const redact = (text: string) => createRedactor(key)(text);

  test.each(encodings)("is redacted %s", (_name, encode) => {
    expect(redact(`before ${encode(key)} after`)).toBe("before *** after");
  });

  test.each(["Bearer ", "user:", "u:", ""])("is redacted in the base64 of %j and the key", (prefix) => {
    for (const text of [prefix + key, `${prefix}${key}:suffix`, `x${prefix}${key}`]) {
      for (const encoding of ["base64", "base64url"] as const) {
        const encoded = Buffer.from(text).toString(encoding);
        const redacted = redact(encoded);
        expect(redacted).toContain("***");
        // At most the characters that also encode a neighbouring byte are left.
        const decoded = redacted.split("***").map((part) => Buffer.from(part, encoding).toString("latin1"));
        expect(decoded.join("")).not.toContain(key.slice(0, 4));
        expect(decoded.join("")).not.toContain(key.slice(-4));
      }
    }
  });
});

test("every occurrence is redacted, and nothing else", () => {
  const redact = createRedactor("mint_0123456789");
  expect(redact("mint_0123456789, mint_0123456789 and mint_012345678")).toBe("***, *** and mint_012345678");
  expect(redact(base64("Bearer mint_012345678"))).toBe(base64("Bearer mint_012345678"));
});

test("a key that is too short is left alone, because words would contain it by accident", () => {
  expect(createRedactor("key_012")("key_0123")).toBe("key_0123");
  expect(createRedactor("key_0123")("key_0123")).toBe("***");
});

describe("the end of a key", () => {
  const key = "mint_0123456789";

  test.each(encodings)("is left alone without the rest, %s", (_name, encode) => {
    expect(createRedactor(key)(encode("another_6789"))).toBe(encode("another_6789"));
  });

  test("is searched for from the start of every text", () => {
    const redact = createRedactor(key);
    expect([key, "6789", key, "", key].map(redact)).toEqual(["***", "6789", "***", "", "***"]);
  });
});
