import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { ControlFiles } from "../../../src/git/control-files.ts";

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
}

const used = [
  "HEAD",
  "FETCH_HEAD",
  "config",
  "objects/pack/x",
  "refs/heads/main",
  "packed-refs",
  "packed-refs.new",
  "HEAD.lock",
];

/** Creates a repository whose configuration is remembered. */
async function remembered() {
  const repository = temporaryFolder();
  write(repository, Object.fromEntries(used.map((file) => [file, "original"])));
  const files = new ControlFiles(repository);
  await files.remember();
  return { repository, files, config: join(repository, "config") };
}

test("removes what only changes what Git does, and keeps the rest", async () => {
  const { repository, files } = await remembered();
  const planted = [
    "hooks/post-checkout",
    "info/attributes",
    "commondir",
    "config.worktree",
    "xHEAD",
    "HEADx",
    "refs.x",
  ];
  write(repository, Object.fromEntries([...planted, "objects/info/alternates"].map((file) => [file, "planted"])));
  await files.restore();
  expect(readdirSync(repository).sort()).toEqual(
    ["FETCH_HEAD", "HEAD", "HEAD.lock", "config", "objects", "packed-refs", "packed-refs.new", "refs"].sort(),
  );
  expect(readdirSync(join(repository, "objects"))).toEqual(["pack"]);
  for (const file of used) expect(readFileSync(join(repository, file), "utf8")).toBe("original");
});

test.each<[string, (config: string) => void]>([
  ["changed", (config) => writeFileSync(config, "planted")],
  ["changed to one of the same length", (config) => writeFileSync(config, "ORIGINAL")],
  ["removed", (config) => rmSync(config)],
  [
    "replaced by a folder",
    (config) => {
      rmSync(config);
      mkdirSync(join(config, "a"), { recursive: true });
    },
  ],
  [
    "replaced by a link",
    (config) => {
      writeFileSync(`${config}-2.lock`, "original");
      rmSync(config);
      symlinkSync(`${config}-2.lock`, config);
    },
  ],
])("restores a configuration that was %s, more than once", async (_name, change) => {
  const { files, config } = await remembered();
  for (let round = 0; round < 2; round++) {
    change(config);
    await files.restore();
    expect(lstatSync(config).isFile()).toBe(true);
    expect(readFileSync(config, "utf8")).toBe("original");
  }
});

test("restores it even if something is in the way", async () => {
  const { files, config } = await remembered();
  write(dirname(config), { "config-1.lock/a": "planted", config: "planted" });
  await files.restore();
  expect(readFileSync(config, "utf8")).toBe("original");
  expect(existsSync(`${config}-1.lock`)).toBe(false);
});

test("does not write a configuration that was not changed", async () => {
  const { files, config } = await remembered();
  const { ino } = lstatSync(config);
  await files.restore();
  expect(lstatSync(config).ino).toBe(ino);
});

test("changes nothing before it remembers a configuration, and after a reset", async () => {
  const { repository, files, config } = await remembered();
  write(repository, { "hooks/x": "" });
  await new ControlFiles(repository).restore();
  expect(existsSync(join(repository, "hooks"))).toBe(true);
  await files.reset();
  expect(existsSync(join(repository, "hooks"))).toBe(false);
  expect(existsSync(config)).toBe(false);
  await files.restore();
  expect(existsSync(config)).toBe(false);
});
