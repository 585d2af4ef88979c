import { accessSync, constants, readFileSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { HangingTests } from "./tools/hanging-tests.ts";
import { LeftFiles } from "./tools/left-files.ts";
import { LeftOut } from "./tools/left-out.ts";

// Every process of Node that a test starts, which are thousands, reads what an earlier one compiled: most take half the time.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, "node_modules/.cache/agent-job-compiled");

/** For temporary files, if nobody chose a folder: tests write hundreds of thousands, which cost the kernel a tenth in memory. */
const memory = "/dev/shm";
/** In bytes, three times what a run was seen to use. Most are databases, at 9 MB each. */
const memoryNeeded = 4_000_000_000;

if (process.platform === "linux" && process.env.TMPDIR === undefined && isUsable(memory)) process.env.TMPDIR = memory;

/** Returns whether there is a file system with enough space, from which programs can be run: those of containers often lack one. */
function isUsable(folder: string): boolean {
  const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
  const [, , , options = "noexec"] = mounts.findLast((line) => line.split(" ")[1] === folder)?.split(" ") ?? [];
  if (options.split(",").includes("noexec")) return false;
  try {
    accessSync(folder, constants.W_OK);
  } catch {
    return false;
  }
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize >= memoryNeeded;
}

const isWindows = process.platform === "win32";
const exclude = [
  // Agents run with a step only on Linux.
  ...(process.platform === "linux" ? [] : ["service/test/e2e/own-agent*.test.ts"]),
];

/** The tests of whole processes that run on Windows, which has neither signals nor a POSIX shell. Others are added by name. */
const onWindows = [
  "test/{integration,simulation}/**/*.test.ts",
  "test/e2e/{changes,crash,held-polls,network,rerun,step}.test.ts",
  "test/e2e/github*.test.ts",
];

/**
 * What `npm test` leaves to `.ci/run`, by `npm run test:processes`: most CPU time goes into processes. `e2e/smoke.test.ts` and
 * `integration/jobs/agent-service.test.ts` stand for them, and unit tests know the same rules at ports.
 */
const processes = [
  "service/test/e2e/**/!(smoke).test.ts",
  "service/test/histories/*.test.ts",
  "service/test/integration/agents/{agent-limits,agent-results,refused-session,resource-exhausted}.test.ts",
  "service/test/integration/agents/{setup-and-check,survivors,unfinished}.test.ts",
  "service/test/integration/git/{agent-head,allowed-files,checked-changes,commit-authors,commit-content}.test.ts",
  "service/test/integration/git/{job-branch,kept-on-refs,kept-worktrees,left-work,merge-states,submodules}.test.ts",
  "service/test/integration/github/verified-commits.test.ts",
  "service/test/integration/jobs/{base,job-copies,jobs-command,kept-patch,restored-store}.test.ts",
  "service/test/integration/jobs/{service-state,several-repositories,turn-start}.test.ts",
  "service/test/integration/step/remembered-jobs.test.ts",
  "service/test/integration/store/service-store.test.ts",
];

/** Most of what a worker needs to start a process, such as Git, is for its own memory, of which this keeps half. */
const frugal = ["--max-semi-space-size=2"];

const globalSetup = ["service/test/support/postgres-of-run.ts"];

/** The tests of a folder: those of units, and the others, which can have a setup of their own. */
const projectsOf = (
  name: string,
  folder: string,
  { include = [`${folder}/{e2e,integration,simulation}/**/*.test.ts`], globalSetup = [] as string[] } = {},
) => [
  {
    extends: true as const,
    // Before the others. Most compute, and each worker loads everything: two more cost a third in CPU time, and save none.
    test: {
      name: `${name}-unit`,
      include: [`${folder}/unit/**/*.test.ts`],
      exclude,
      maxWorkers: Math.max(2, availableParallelism()),
      sequence: { groupOrder: 0 },
    },
  },
  {
    extends: true as const,
    test: {
      name,
      include,
      globalSetup,
      exclude: [...exclude, ...processes],
      execArgv: frugal,
      sequence: { groupOrder: 1 },
    },
  },
];

/** Files that take long, although most are short. */
const longTests = /\/(?:e2e|simulation)\/|\/(?:agent-limits|comment-step)\.test\.ts$/;

/**
 * Starts files that take long before the others of their project, also in a checkout where Vitest knows no times of an earlier
 * run: then it starts the largest files first, and at the end a few workers would wait for what started last.
 */
class LongTestsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): number => Number(longTests.test(moduleId));
    return sorted.sort((one, other) => (one.project === other.project ? isLong(other) - isLong(one) : 0));
  }
}

export default defineConfig({
  test: {
    // Unless the command line asks for another order, such as a random one.
    ...(!process.argv.some((option) => option.startsWith("--sequence")) && { sequence: { sequencer: LongTestsFirst } }),
    // Only for what hangs: on a busy machine, tests of several processes take minutes.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ["default", new HangingTests(), new LeftFiles(), new LeftOut()],
    // What was transformed for one project, or by an earlier run, is read again: half the time of a short run.
    fsModuleCache: true,
    // Files share processes: a process for each would take as long as its tests.
    isolate: false,
    // Tests of whole processes mostly wait for them: more workers than cores, but each loads everything.
    maxWorkers: 5,
    // The service needs process groups and a POSIX shell.
    projects: [
      ...projectsOf("action", "test", isWindows ? { include: onWindows } : {}),
      ...(isWindows
        ? []
        : [
            ...projectsOf("service", "service/test", { globalSetup }),
            {
              extends: true as const,
              test: {
                name: "processes",
                include: processes,
                globalSetup,
                exclude,
                execArgv: frugal,
                sequence: { groupOrder: 2 },
              },
            },
          ]),
      // Slow, and about programs that only contributors run, or that test: `npm run test:tools`.
      { extends: true, test: { name: "tools", include: ["{bench,tools,test/kills}/**/*.test.ts"] } },
    ],
  },
});
