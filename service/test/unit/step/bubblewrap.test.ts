import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { programs } from "../../../../test/support/programs.ts";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { prepareBubblewrap } from "../../../step/setup/bubblewrap.ts";

let folder = "";
let record = "";
let lines: string[] = [];
beforeEach(() => {
  folder = join(temporaryFolder(), "new/sandbox-test");
  record = join(temporaryFolder(), "record");
  lines = [];
});

/** Prepares bubblewrap with these programs, which have `$record`, and nothing else in `PATH`. */
function prepare(scripts: Readonly<Record<string, string>>, canInstall = true): Promise<void> {
  vi.stubEnv("record", record);
  vi.stubEnv("PATH", programs(scripts, ["ln", "dirname"]));
  onTestFinished(() => void vi.unstubAllEnvs());
  return prepareBubblewrap({ folder, canInstall, info: (line) => void lines.push(line) });
}

const recorded = () => (existsSync(record) ? readFileSync(record, "utf8").trimEnd().split("\n") : []);

/** A program that works, and becomes bubblewrap by a link to it. */
function working(): string {
  const file = join(temporaryFolder(), "bwrap");
  writeFileSync(file, "#!/bin/sh\nexit 0\n");
  chmodSync(file, 0o755);
  return file;
}

const aptGet = "--non-interactive apt-get install --yes --no-install-recommends bubblewrap";
const update = "--non-interactive apt-get update";
const sysctl = "--non-interactive sysctl -w kernel.apparmor_restrict_unprivileged_userns=0";
const denied = 'echo "setting up uid map: Permission denied" >&2; exit 1';

test("a sandbox that works is only tested, without a network and with one folder that can be written", async () => {
  await prepare({ bwrap: 'echo "$@" >> "$record"', sudo: 'echo "$@" >> "$record"' });
  expect(recorded()).toEqual([
    expect.stringMatching(
      `^--unshare-all --die-with-parent .* --bind ${folder} /tmp --bind ${folder} /dev/shm --bind ${folder} ${folder} .* --chdir ${folder} -- /bin/sh -c exit 0$`,
    ),
  ]);
  expect(lines).toEqual([]);
  expect(existsSync(folder)).toBe(true);
});

test("bubblewrap that is missing is installed", async () => {
  await prepare({ sudo: `echo "$@" >> "$record"; ln -s ${working()} "$(dirname "$0")/bwrap"` });
  expect(recorded()).toEqual([aptGet]);
  expect(lines).toEqual(["Installing bubblewrap"]);
});

test("it is installed after an update of the package lists if it is not found without", async () => {
  await prepare({
    sudo: `echo "$@" >> "$record"
      case "$3 $updated" in
        update*) ln -s /bin/sh "$(dirname "$0")/updated";;
        install*) [ -e "$(dirname "$0")/updated" ] || exit 100; ln -s ${working()} "$(dirname "$0")/bwrap";;
      esac`,
  });
  expect(recorded()).toEqual([aptGet, update, aptGet]);
});

test("namespaces that are denied are allowed", async () => {
  await prepare({
    sudo: 'echo "$@" >> "$record"',
    bwrap: `[ "$1" = --version ] || [ -e "$record" ] || { ${denied}; }`,
  });
  expect(recorded()).toEqual([sysctl]);
  expect(lines).toEqual(["Allowing user namespaces to programs without an AppArmor profile, for bubblewrap"]);
});

test("both may be needed", async () => {
  const later = join(temporaryFolder(), "bwrap");
  writeFileSync(later, `#!/bin/sh\n[ -e "$record.sysctl" ] || { ${denied}; }\n`);
  chmodSync(later, 0o755);
  await prepare({
    sudo: `echo "$@" >> "$record"
      case "$2" in apt-get) ln -s ${later} "$(dirname "$0")/bwrap";; sysctl) echo > "$record.sysctl";; esac`,
  });
  expect(recorded()).toEqual([aptGet, sysctl]);
});

test.each([
  [false, []],
  [true, [aptGet, update, sysctl]],
])("says how to install it if it is still missing, after changes: %j", async (canInstall, changes) => {
  await expect(prepare({ sudo: 'echo "$@" >> "$record"; echo no >&2; exit 1' }, canInstall)).rejects.toMatchObject({
    title: "No sandbox for the agent",
    message: expect.stringMatching(
      /^bubblewrap cannot run on this runner: it is not installed\. There are two ways out\. Either install it in a step before this one: `sudo apt-get install bubblewrap`\. Or, without `setup`, `check` and the workflow's own token for Copilot, set `--sandbox none` and `--agent-network full` in `agent-options`/,
    ),
  });
  expect(recorded()).toEqual(changes);
  // Why the changes failed, too.
  expect(lines.filter((line) => line.endsWith(" exited with 1: no"))).toHaveLength(canInstall ? 2 : 0);
});

test.each([
  [false, []],
  [true, [sysctl]],
])("says how to allow it namespaces if they are still denied, after changes: %j", async (canInstall, changes) => {
  const scripts = { sudo: 'echo "$@" >> "$record"', bwrap: `[ "$1" = --version ] || { ${denied}; }` };
  await expect(prepare(scripts, canInstall)).rejects.toMatchObject({
    title: "No sandbox for the agent",
    message: expect.stringMatching(
      /^bubblewrap cannot run on this runner: setting up uid map: Permission denied\. There are two ways out\. Either allow it user namespaces: on Ubuntu 24\.04 and newer with the AppArmor profile in service\/docs\/agents\.md/,
    ),
  });
  expect(recorded()).toEqual(changes);
});
