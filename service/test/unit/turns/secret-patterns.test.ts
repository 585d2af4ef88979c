import { expect, test } from "vitest";
import { createRedactor } from "../../../../src/runner-kit/redact.ts";
import { SecretPatterns } from "../../../src/turns/secret-patterns.ts";

const value = "sk-ant_8f+2/<9>&\"d'xyz~Q==";
const secrets = new SecretPatterns([
  { name: "OTHER", value: "another-secret-1" },
  { name: "KEY", value },
]);

const escapeAll = (wrap: (code: number) => string) => [...value].map((one) => wrap(one.charCodeAt(0))).join("");
const encodings: Record<string, string> = {
  "as it is": value,
  "in upper case": value.toUpperCase(),
  "percent-encoded": encodeURIComponent(value),
  "percent-encoded throughout": escapeAll((code) => `%${code.toString(16)}`),
  "as JSON": JSON.stringify(value),
  "with JSON's escapes": escapeAll((code) => `\\u${code.toString(16).padStart(4, "0")}`),
  "with HTML's escapes": escapeAll((code) => `&#${code};`),
  "with HTML's hexadecimal escapes": escapeAll((code) => `&#x0${code.toString(16)};`),
  "as hexadecimal": Buffer.from(value).toString("hex"),
  "as base64": Buffer.from(value).toString("base64"),
  "as base64 after one byte": Buffer.from(`:${value}:`).toString("base64"),
  "as base64url after two bytes": Buffer.from(`u:${value}`).toString("base64url"),
};

test.each(Object.entries(encodings))(
  "a secret is found %s, as the action's redaction finds it",
  async (_name, text) => {
    expect(createRedactor(value)(`one\n${text}`)).toContain("***");
    expect(await secrets.find(`one\n${text}\n`)).toEqual({ name: "KEY", line: 2 });
  },
);

test("a secret is found across the parts of a long text", async () => {
  for (const before of [256 * 1024 - 5, 3 * 256 * 1024 - 1])
    expect(await secrets.find(`${"x".repeat(before)}${value}${"y".repeat(300_000)}`)).toEqual({ name: "KEY", line: 1 });
});

test("ordinary text has none, and a short value is no secret", async () => {
  expect(await secrets.find("sk-ant_8f+2 and other text\n".repeat(100))).toBeUndefined();
  const short = new SecretPatterns([{ name: "SHORT", value: "on" }]);
  expect(short.isEmpty).toBe(true);
  expect(await short.find("on and on")).toBeUndefined();
});
