import { expect, test } from "vitest";
import { createRedactor } from "../../../src/runner-kit/redact.ts";
import { SecretPatterns } from "../../src/secret-patterns.ts";

/** Returns a text as it is, and in each encoding. */
const encodingsOf = (value: string): [encoding: string, text: string][] => {
  const escapeAll = (wrap: (code: number) => string) => [...value].map((one) => wrap(one.charCodeAt(0))).join("");
  return Object.entries({
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
  });
};

const value = "sk-ant_8f+2/<9>&\"d'xyz~Q==";
const long = `${value}0123456789abcdef`;
const secrets = new SecretPatterns([
  { name: "OTHER", value: "another-secret-1" },
  { name: "KEY", value },
]);
const longSecrets = new SecretPatterns([{ name: "LONG", value: ` ${long}\n` }]);

test.each(encodingsOf(value).map(([name, text], index) => [name, text, encodingsOf(long)[index]?.[1] ?? ""]))(
  "a secret is found %s, as the action's redaction finds it",
  async (_name, text, longText) => {
    expect(createRedactor(value)(`one\n${text}`)).toContain("***");
    expect(await secrets.find(`one\n${text}\n`)).toEqual({ name: "KEY", line: 2 });
    expect(await longSecrets.find(`one\n${longText}\n`)).toEqual({ name: "LONG", line: 2 });
    expect(await longSecrets.remove(`one ${longText} two`)).toMatch(/^one \S{0,3}\*{3}\S{0,6} two$/);
  },
);

const armored = [
  "-----BEGIN KEY-----",
  "MIIEvQIBADANBgkqhkiG9w0BAQ",
  "EFAASCBKcwggSjAgEAAoIBAQC7",
  "short=",
  "-----END KEY-----",
];
const key = `${armored.join("\n")}\n`;
const account = { type: "service_account", project_id: "docs-12345678", private_key: key, id: "4f2a9c1e-77d0" };
const several = new SecretPatterns([
  { name: "KEY", value: key },
  { name: "ACCOUNT", value: JSON.stringify(account, null, 2) },
  { name: "HEADER", value: "x-key: a1b2c3\n" },
  { name: "URL", value: "postgres://docs:p%40ss-w0rd@db.example.com/docs" },
]);

test.each([
  ["as it is", key, "KEY"],
  ["without its last line break", key.trim(), "KEY"],
  ["with other line breaks", key.replaceAll("\n", "\r\n"), "KEY"],
  ["as a string of JSON", JSON.stringify({ key }), "KEY"],
  ["as JSON in JSON", JSON.stringify(JSON.stringify({ key })), "KEY"],
  ["with escapes for line breaks", key.replaceAll("\n", "\\n"), "KEY"],
  ["in one line", armored.join(" "), "KEY"],
  ["quoted", key.replace(/^/gm, "> "), "KEY"],
  ["indented in YAML", `key: |\n${key.replace(/^/gm, "    ")}`, "KEY"],
  ["in a list of strings", `[${armored.map((line) => `'${line}'`).join(",\n  ")}]`, "KEY"],
  ["in a diff", key.replace(/^/gm, "+"), "KEY"],
  ["split over the lines of a heredoc", `cat <<'EOF'\n${key.replace(/.{7}/g, "$&\n")}EOF`, "KEY"],
  ["as base64 in lines", Buffer.from(key).toString("base64").replace(/.{60}/g, "$&\n"), "KEY"],
  ["by one of its lines", `It begins with ${armored[1]}.`, "KEY"],
  ["by a string of its JSON", `The id is ${account.id}.`, "ACCOUNT"],
  ["with another white space", "X-Key:\\n  A1B2C3", "HEADER"],
  ["by the password in its URL", "the password is p@ss-w0rd", "URL"],
])("a secret is found %s", async (_name, text, name) => {
  expect(await several.find(`one\n${text}\n`)).toMatchObject({ name });
  expect(await several.remove(text)).not.toMatch(/MIIE|EFAA|4f2a|a1b2|w0rd/i);
  const masked = String(await several.mask(Buffer.from(text)));
  expect(masked).not.toMatch(/MIIE|EFAA|4f2a|a1b2|w0rd/i);
  expect(masked.split("\n").map(({ length }) => length)).toEqual(text.split("\n").map(({ length }) => length));
});

test.each([
  "-----BEGIN KEY-----",
  '{ "type": "service_account", "project_id": "docs-12345678" }',
  "x-key: a1 b2 c3, and postgres://docs:SECRET@db.example.com/docs",
  "short=",
])("what is no secret is not found: %s", async (text) => {
  expect(await several.find(text)).toBeUndefined();
  expect(await several.mask(Buffer.from(text))).toBeUndefined();
});

test("a secret is found across the parts of a long text", async () => {
  for (const before of [256 * 1024 - 5, 3 * 256 * 1024 - 1, 1024 * 1024 - 9]) {
    const around = (text: string) => `${"x".repeat(before)}${text}${"y".repeat(300_000)}`;
    expect(await secrets.find(around(value))).toEqual({ name: "KEY", line: 1 });
    for (const text of [long, encodeURIComponent(long)])
      expect(await longSecrets.find(around(text))).toEqual({ name: "LONG", line: 1 });
  }
});

test("ordinary text has none, and a short value is no secret", async () => {
  expect(await secrets.find("sk-ant_8f+2 and other text\n".repeat(100))).toBeUndefined();
  const short = new SecretPatterns([{ name: "SHORT", value: "on" }]);
  expect(short.isEmpty).toBe(true);
  expect(await short.find("on and on")).toBeUndefined();
});

test.each([
  ["one in the other", "the-whole-secret-of-one", "whole-secret-of"],
  ["one begins in the other", "the-first-secret-value-one", "secret-value-one-and-more-of-it"],
])("of secrets that overlap, nothing is left: %s", async (_, one, other) => {
  const text = `a ${one}${other.startsWith("secret-value") ? "-and-more-of-it" : ""} b`;
  const patterns = [one, other].map((value, index) => ({ name: `KEY_${index}`, value }));
  for (const secrets of [patterns, patterns.toReversed()])
    expect(await new SecretPatterns(secrets).remove(text)).toBe("a *** b");
});
