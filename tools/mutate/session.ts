/** A process that runs test files with vitest, step by step. Its parent ends it if a test never returns. */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { createVitest, type TestSpecification } from "vitest/node";
import { append, type Session } from "./protocol.ts";

const { root, steps, jobFile, journal } = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Session;
process.env.MUTATE_JOB = jobFile;
process.env.MUTATE_JOURNAL = journal;
// The parent was interrupted.
process.on("disconnect", () => process.exit(1));

/** Keeps the order of the files. */
class GivenOrder {
  sort(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
  shard(files: TestSpecification[]): TestSpecification[] {
    return files;
  }
}

const vitest = await createVitest(
  "test",
  {
    root,
    // Without the projects of the configuration, which have settings of their own.
    config: false,
    include: ["{,service/}test/{unit,integration}/**/*.test.ts"],
    testTimeout: 60_000,
    runner: resolve(import.meta.dirname, "runner.ts"),
    // The sources are imported once per step, and every test runs in the same worker.
    isolate: false,
    pool: "threads",
    maxWorkers: 1,
    maxConcurrency: 1,
    sequence: { sequencer: GivenOrder },
    reporters: [{}],
    silent: true,
    watch: false,
    passWithNoTests: true,
    dangerouslyIgnoreUnhandledErrors: true,
  },
  { logLevel: "silent" },
);
try {
  const found = await vitest.globTestSpecifications();
  for (const { files, job } of steps) {
    writeFileSync(jobFile, JSON.stringify(job));
    const specifications = files.flatMap((file) => found.filter(({ moduleId }) => resolve(moduleId) === file));
    await vitest.runTestSpecifications(specifications);
    append(journal, { kind: "step-done" });
  }
} finally {
  await vitest.close();
}
// Servers that a test with a mutant did not close would keep the process alive.
process.exit(0);
