import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { root } from "../../test/support/metadata.ts";
import { type MutationRun, mutate, type Sample } from "./mutate.ts";
import { renderReport, tallies } from "./report.ts";

/** Runs mutation testing on a repository with these files. */
async function mutateRepository(
  files: Record<string, string>,
  without: string[] = [],
  sample?: Sample,
): Promise<MutationRun> {
  const repository = mkdtempSync(join(tmpdir(), "agent-job-mutate-test-"));
  onTestFinished(() => rmSync(repository, { recursive: true, force: true }));
  symlinkSync(join(root, "node_modules"), join(repository, "node_modules"), "junction");
  for (const [file, content] of Object.entries({ "vitest.config.ts": "export default {};", ...files })) {
    mkdirSync(dirname(join(repository, file)), { recursive: true });
    writeFileSync(join(repository, file), content);
  }
  return mutate({ root: repository, paths: ["src"], without, sample });
}

const source = `
const sizes = { large: 10 };
export const isLarge = (size: number) => size > sizes.large;
export function countDown(from: number): number {
  let steps = 0;
  for (let left = from; left > 0; left -= 1) steps += 1;
  return steps;
}
export const unused = () => 1 + 1;
`;

const tests = `
import { expect, test } from "vitest";
import { countDown, isLarge } from "../../src/sizes.ts";
test("is large", () => {
  expect(isLarge(11)).toBe(true);
  expect(isLarge(1)).toBe(false);
});
test("counts down", () => expect(countDown(2)).toBe(2));
test("always fails", () => expect(isLarge(11)).toBe(false));
`;

test("finds what tests notice: also constants, endless loops, and code that no test reaches", async () => {
  const run = await mutateRepository({
    "src/sizes.ts": source,
    "src/main.ts": "process.exitCode = 1 + 1;",
    "test/unit/sizes.test.ts": tests,
  });
  const verdictOf = (original: string, replacement: string) =>
    run.mutants.find((mutant) => mutant.original === original && mutant.replacement === replacement);

  expect(verdictOf("size > sizes.large", "size <= sizes.large")).toMatchObject({ verdict: "killed", isStatic: false });
  expect(verdictOf("size > sizes.large", "size >= sizes.large")).toMatchObject({ verdict: "survived" });
  expect(verdictOf("{ large: 10 }", "{}")).toMatchObject({ verdict: "killed", isStatic: true, line: 2, column: 15 });
  expect(verdictOf("left -= 1", "left += 1")).toMatchObject({ verdict: "timed-out" });
  expect(verdictOf("1 + 1", "1 - 1")).toMatchObject({ verdict: "uncovered" });
  expect(run.notImported).toEqual(["src/main.ts"]);
  expect(run.unusable).toEqual(["test/unit/sizes.test.ts > always fails"]);

  const [all, file] = tallies(run);
  expect(all).toEqual({ ...file, file: "src" });
  expect(renderReport(run)).toMatch(/^\| \*\*src\*\* \| \d.*\n\| src\/sizes\.ts \| \d/m);
  expect(renderReport(run)).toContain("src/sizes.ts:3:42  EqualityOperator  size > sizes.large → size >= sizes.large");
});

test("does not take a test for one that noticed a mutant because it was slow once", async () => {
  const run = await mutateRepository({
    "src/sizes.ts": "export const isLarge = (size: number) => size > 10;",
    "test/unit/sizes.test.ts": `
      import { appendFileSync, mkdirSync, statSync } from "node:fs";
      import { test } from "vitest";
      import { isLarge } from "../../src/sizes.ts";
      test("is slow when it runs with a mutant for the first time", async () => {
        isLarge(1);
        appendFileSync("runs.txt", ".");
        // Without a mutant it runs twice.
        if (statSync("runs.txt").size < 3) return;
        try {
          mkdirSync("was-slow");
        } catch {
          return;
        }
        await new Promise((resolve) => setTimeout(resolve, 10_000));
      });
    `,
  });
  expect(run.mutants.length).toBeGreaterThan(2);
  for (const { verdict } of run.mutants) expect(verdict).toBe("survived");
});

test("tries a test again that fails because of what a mutant left behind", async () => {
  const run = await mutateRepository({
    "src/sizes.ts": `
      let uses = 0;
      export const usesNow = () => uses;
      export function use(): void { uses += 1; uses -= 1; }
      export const isLarge = (size: number) => size > 10;
    `,
    "test/unit/sizes.test.ts": `
      import { expect, test } from "vitest";
      import { isLarge, use, usesNow } from "../../src/sizes.ts";
      test("uses it", () => use());
      test("is large", () => expect([isLarge(11), isLarge(10), usesNow()]).toEqual([true, false, 0]));
    `,
  });
  expect(run.unusable).toEqual([]);
  const sizes = run.mutants.filter(({ original }) => original === "size > 10");
  expect(new Set(sizes.map(({ verdict }) => verdict))).toEqual(new Set(["killed"]));
});

test("leaves tests out if told to", async () => {
  const files = {
    "src/sizes.ts": source,
    "test/unit/sizes.test.ts": tests,
    "test/unit/slow.test.ts": tests.replace("always fails", "is slow"),
  };
  const run = await mutateRepository(files, ["test/**/slow.test.ts"]);
  expect(run.unusable).toEqual(["test/unit/sizes.test.ts > always fails"]);
  await expect(mutateRepository(files, ["test/**"])).rejects.toThrow("No test in test/unit or test/integration");
});

test("tries only a sample if told to, and the same one after other sources have changed", async () => {
  const files = { "src/sizes.ts": source, "test/unit/sizes.test.ts": tests };
  const more = {
    "src/more.ts": "export const isMore = true;",
    "test/unit/more.test.ts": 'import "../../src/more.ts";',
  };
  const sampled = async (sample: Sample, changed = files) =>
    (await mutateRepository(changed, [], sample)).mutants.map(({ file, line, replacement }) => [
      file,
      line,
      replacement,
    ]);
  const first = await sampled({ size: 3, seed: 1 });
  expect(first).toHaveLength(3);
  expect(await sampled({ size: 3, seed: 2 })).not.toEqual(first);
  const all = await sampled({ size: 100, seed: 1 }, { ...files, ...more });
  expect(all.filter(([file]) => file === "src/sizes.ts").slice(0, 3)).toEqual(first);
});
