import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { findSecret, isPublicValue } from "../../src/service-secrets.ts";
import { watchSecrets } from "../../src/start/watch-secrets.ts";

const first = "sk-first-0123456789";
const second = "sk-second-0123456789";

/** Writes a file with a secret. Returns it, and variables that name it. */
function secretFile(text = `${first}\n`) {
  const file = join(temporaryFolder(), "key");
  writeFileSync(file, text);
  return { file, environment: { MODEL_KEY_FILE: file } };
}

test("a secret is in its variable, in the file that another one names, or in the folder of systemd", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "MODEL_KEY"), first);
  for (const environment of [
    { MODEL_KEY: first },
    { MODEL_KEY: ` ${first}\n` },
    secretFile().environment,
    { CREDENTIALS_DIRECTORY: folder },
  ])
    expect(findSecret("MODEL_KEY", environment)).toMatchObject({ name: "MODEL_KEY", value: first });
  for (const environment of [{}, { MODEL_KEY: "", MODEL_KEY_FILE: "" }, { CREDENTIALS_DIRECTORY: temporaryFolder() }])
    expect(findSecret("MODEL_KEY", environment)).toBeUndefined();
});

test("a file is read each time, and its earlier values stay known", () => {
  const { file, environment } = secretFile();
  const secret = findSecret("MODEL_KEY", environment);
  writeFileSync(file, second);
  expect(secret?.value).toBe(second);
  expect([...(secret?.values() ?? [])]).toEqual([first, second]);
  for (const broken of ["", "two words", "two\nlines"]) {
    writeFileSync(file, broken);
    expect(secret?.value).toBe(second);
  }
  rmSync(file);
  expect([...(secret?.values() ?? [])]).toEqual([first, second]);
  writeFileSync(file, first);
  expect(secret?.value).toBe(first);
});

test.each([
  ["is missing", (file: string) => rmSync(file), "cannot be read: ENOENT."],
  ["has more", (file: string) => writeFileSync(file, `${first} ${second}`), "in one line of ASCII, and nothing else."],
  ["is empty", (file: string) => writeFileSync(file, "\n"), "in one line of ASCII, and nothing else."],
])("a file that %s at the start is named, and its content is not", (_what, breakFile, says) => {
  const { file, environment } = secretFile();
  breakFile(file);
  const find = () => findSecret("MODEL_KEY", environment);
  expect(find).toThrow(says);
  expect(find).toThrow(file);
  expect(find).not.toThrow(/sk-/);
});

test("a secret in two places is an error, because one of them would never be replaced", () => {
  const { file, environment } = secretFile();
  expect(() => findSecret("MODEL_KEY", { ...environment, MODEL_KEY: second })).toThrow(
    `MODEL_KEY is set, and ${file} has it, too: remove one of them.`,
  );
});

test("the log says when a secret was replaced and when it cannot be read, and no secret", async () => {
  const { file, environment } = secretFile();
  const secret = findSecret("MODEL_KEY", environment);
  if (secret === undefined) throw new Error("no secret");
  const lines: string[] = [];
  using _ = watchSecrets([secret, secret], (line) => void lines.push(line), 5);
  writeFileSync(file, second);
  // Whoever uses it can be first to read it.
  expect(secret.value).toBe(second);
  await waitUntil(() => lines.length === 1);
  rmSync(file);
  await waitUntil(() => lines.length === 2);
  writeFileSync(file, second);
  await waitUntil(() => lines.length === 3);
  expect(lines).toEqual([
    `MODEL_KEY was replaced in ${file}. The new one is used from now on.`,
    `The MODEL_KEY that was read last stays in use, because of an error: ${file}, which has MODEL_KEY, cannot be read: ENOENT.`,
    `MODEL_KEY can be read again from ${file}.`,
  ]);
});

test.each([
  ...["REGION", "AWS_REGION", "CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "project_id", "FOUNDRY_RESOURCE"].map(
    (name) => [name, "docs-1234567", true] as const,
  ),
  ["ANTHROPIC_MODEL", "claude-sonnet-4-5", true],
  ["NODE_ENV", "production", true],
  ["MODE", "Read-Only_mode", true],
  ["ANTHROPIC_BASE_URL", "https://gateway.example.com:8443/anthropic/v1", true],
  ["DOCS_HOST", "docs.example.com", true],
  ["SERVER", "localhost:8080", true],
  ["MODE_TOKEN", "production", false],
  ["PROJECT_KEY", "docs-1234567", false],
  ["DOCS_PAT", "a1b2c3d4", false],
  ["MODE", "x".repeat(21), false],
  ["MODE", "aBcDeFgHiJ", false],
  ["DATABASE_URL", "postgres://docs:12345678@db.example.com/docs", false],
  ["WEBHOOK_URL", "https://hooks.example.com/services/T00000/B11111/a1b2c3d4e5f6g7h8", false],
  ["DOCS_URL", "https://docs.example.com/?key=a1b2c3d4", false],
  ["JWT", "eyJhbGciOi.eyJzdWIiOi.SflKxwRJSM", false],
] as const)("%s=%s is no secret: %s", (name, value, isPublic) => {
  expect(isPublicValue(name, value)).toBe(isPublic);
});
