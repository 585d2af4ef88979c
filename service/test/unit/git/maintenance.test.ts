import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { Git, type GitCommandOptions } from "../../../src/git/git.ts";
import { needsPacking, pack } from "../../../src/git/maintenance.ts";

/** Creates empty files in a folder of objects. */
function add(objects: string, folder: string, count: number, extension = ""): void {
  mkdirSync(join(objects, folder), { recursive: true });
  for (let number = 0; number < count; number++) writeFileSync(join(objects, folder, `${number}${extension}`), "");
}

describe("a clone needs packing", () => {
  test("with more than 1000 loose objects", async () => {
    const objects = temporaryFolder();
    add(objects, "00", 400);
    add(objects, "9a", 400);
    add(objects, "ff", 200);
    for (const folder of ["info", "f", "fff", "0g"]) add(objects, folder, 1);
    expect(await needsPacking(objects)).toBe(false);
    add(objects, "fe", 1);
    expect(await needsPacking(objects)).toBe(true);
  });

  test("with more than 20 packs", async () => {
    const objects = temporaryFolder();
    add(objects, "pack", 20, ".pack");
    add(objects, "pack", 20, ".idx");
    expect(await needsPacking(objects)).toBe(false);
    add(objects, "pack", 21, ".pack");
    expect(await needsPacking(objects)).toBe(true);
    rmSync(join(objects, "pack"), { recursive: true });
    expect(await needsPacking(objects)).toBe(false);
  });
});

test("packing may take hours, and removes only what no ref has needed for two weeks", async () => {
  const commands: [command: string, hours: number][] = [];
  class RecordingGit extends Git {
    override async run(args: readonly string[], { timeLimitMs = 0 }: GitCommandOptions = {}): Promise<string> {
      commands.push([args.join(" "), timeLimitMs / 3_600_000]);
      return "";
    }
  }
  await pack(new RecordingGit({ cwd: "/" }));
  expect(commands).toEqual([
    [expect.stringMatching(/ repack -a -d -l -n --quiet --cruft --cruft-expiration=14\.days\.ago$/), 6],
    ["prune --expire=14.days.ago", 6],
  ]);
});
