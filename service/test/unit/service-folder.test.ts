import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/step.ts";
import { JobDirectory } from "../../src/service-folder.ts";

test("has a new home with a Git identity, and keeps it for the next turn", async () => {
  const folder = temporaryFolder();
  const directory = new JobDirectory(folder, "job_1");
  expect(await directory.prepare()).toBe(true);
  expect(directory).toEqual({
    path: join(folder, "jobs/job_1"),
    home: join(folder, "jobs/job_1/home"),
    homeBefore: join(folder, "jobs/job_1/home-before"),
    homeTurn: join(folder, "jobs/job_1/home-turn"),
    events: join(folder, "jobs/job_1/events.jsonl"),
    tree: join(folder, "jobs/job_1/tree"),
    temporary: join(folder, "jobs/job_1/tmp"),
    input: join(folder, "jobs/job_1/input"),
    index: join(folder, "jobs/job_1/index"),
    processes: join(folder, "jobs/job_1/processes.json"),
    setup: {
      home: join(folder, "jobs/job_1/setup/home"),
      temporary: join(folder, "jobs/job_1/setup/tmp"),
      files: join(folder, "jobs/job_1/setup/files"),
    },
    check: {
      path: join(folder, "jobs/job_1/check"),
      tree: join(folder, "jobs/job_1/check/tree"),
      index: join(folder, "jobs/job_1/check/index"),
      home: join(folder, "jobs/job_1/check/home"),
      temporary: join(folder, "jobs/job_1/check/tmp"),
    },
  });
  expect(readFileSync(join(directory.home, ".gitconfig"), "utf8")).toBe(
    "[user]\n\tname = Agent\n\temail = agent@localhost\n",
  );
  expect(readdirSync(directory.path).sort()).toEqual(["home", "input", "tmp"]);

  writeFileSync(join(directory.home, ".gitconfig"), "changed");
  for (const path of [directory.temporary, directory.input]) writeFileSync(join(path, "left"), "");
  expect(await directory.prepare()).toBe(false);
  expect(readFileSync(join(directory.home, ".gitconfig"), "utf8")).toBe("changed");
  for (const path of [directory.temporary, directory.input]) expect(readdirSync(path)).toEqual([]);
  expect(readdirSync(directory.path).sort()).toEqual(["home", "input", "tmp"]);

  await directory.clean();
  expect(readdirSync(directory.path)).toEqual(["home"]);
});

test("a job's home directory can be replaced, and comes back unless it is dropped, also after an interruption", async () => {
  const directory = new JobDirectory(temporaryFolder(), "job_1");
  await directory.prepare();
  const session = join(directory.home, "session");
  writeFileSync(session, "old");
  {
    await using _old = await directory.replaceHome();
    expect(existsSync(session)).toBe(false);
    expect(readdirSync(directory.home)).toEqual([".gitconfig"]);
  }
  expect(readFileSync(session, "utf8")).toBe("old");
  // Without its end, as if the service was killed.
  await directory.replaceHome();
  expect(await directory.prepare()).toBe(false);
  expect(readFileSync(session, "utf8")).toBe("old");
  const replaced = await directory.replaceHome();
  await replaced.drop();
  await replaced[Symbol.asyncDispose]();
  expect(existsSync(session)).toBe(false);
});
