import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import type { DiskUse as Measured } from "../../../src/model.ts";
import { DiskUse, type DiskUseOptions } from "../../../src/upkeep/disk-use.ts";
import { FakeMachine } from "../../support/fake-machine.ts";

const mb = 1_000_000;

/** Returns a round for two clones, the second in a folder of its own, whose worktrees have 10 MB. */
function setUp(options: Partial<DiskUseOptions> = {}) {
  const folder = temporaryFolder();
  const machine = new FakeMachine();
  const measured: Measured[] = [];
  const log: string[] = [];
  const clone = (name: string, own: string) => ({ name, folder: own, checkoutBytes: async () => 10 * mb });
  const round = new DiskUse({
    folder,
    clones: [clone("docs", folder), clone("site", join(folder, "clones/site-1"))],
    worktreesPerClone: 8,
    onMeasured: (use) => void measured.push(use),
    signal: new AbortController().signal,
    log: (line) => void log.push(line.replaceAll(folder, "FOLDER")),
    machine,
    ...options,
  });
  return { folder, machine, measured, log, round };
}

test("the files of clones and jobs are measured by their kind, and the log says once how much they may become", async () => {
  const { folder, machine, measured, log, round } = setUp();
  machine.free = 5000 * mb;
  const add = (path: string, kb: number) => {
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, path, "file"), Buffer.alloc(kb * 1024, "x"));
  };
  add("mirror.git/objects", 400);
  add("clones/site-1/mirror.git", 200);
  for (const tree of ["jobs/a/tree/src/deep", "jobs/b/tree", "spare", "clones/site-1/spare-2"]) add(tree, 100);
  add("jobs/a/home/.cache/deep", 300);
  add("jobs/a/setup/home", 900);
  add("logs", 50);
  await round.run();
  const about = (kb: number) => expect.toSatisfy((bytes: number) => Math.abs(bytes / 1024 - kb) <= 40);
  expect(measured).toEqual([
    {
      clones: [
        { repository: "docs", bytes: about(400) },
        { repository: "site", bytes: about(200) },
      ],
      worktreeBytes: about(400),
      homeBytes: about(1200),
      logBytes: about(50),
      freeBytes: 5000 * mb,
    },
  ]);
  await round.run();
  expect(log).toEqual([
    "Disk: clones 1 MB, worktrees 1 MB, which may become 160 MB, homes 2 MB and logs 1 MB, which grow with the number of jobs. Free: 5000 MB.",
  ]);
});

test("files are read every 15 minutes, less often if that takes long, and free space each time", async () => {
  let reads = 0;
  const { machine, measured, round } = setUp({
    folderSizes: async () => {
      reads++;
      if (reads === 2) machine.pass(60_000);
      return new Map();
    },
  });
  const readsAfter = async (minutes: number) => {
    machine.pass(minutes * 60_000);
    await round.run();
    return reads;
  };
  expect([await readsAfter(0), await readsAfter(14), await readsAfter(1)]).toEqual([1, 1, 2]);
  expect([await readsAfter(99), await readsAfter(1)]).toEqual([2, 3]);
  expect(measured).toHaveLength(5);
});

test("the log warns once before the disk is full, and says when it has room again", async () => {
  const { machine, log, round } = setUp({ folderSizes: async () => new Map([["jobs/a/tree", 60 * mb]]) });
  for (const free of [1101, 1099, 1050, 1150, 1300]) {
    machine.free = free * mb;
    await round.run();
  }
  expect(log.slice(1)).toEqual([
    "The disk of FOLDER is getting full: 1099 MB are free, and worktrees may still need 100 MB. Below 100 MB, no turn starts.",
    "The disk of FOLDER has room again: 1300 MB.",
  ]);
});
