import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import pLimit from "p-limit";
import { scratchFolder } from "../../../bench/scratch.ts";
import { DocsRepository } from "../../../tools/docs-repository.ts";

const run = promisify(execFile);

/**
 * Runs the Git commands of turns as a person would write them, and returns how many turns that are in a minute.
 *
 * @param atOnce - how many run at a time
 */
export async function shellTurnsPerMinute(change: string, turns: number, atOnce: number): Promise<number> {
  using scratch = scratchFolder();
  using docs = new DocsRepository();
  const script = join(scratch.path, "turn.sh");
  writeFileSync(
    script,
    `set -e
cd '${scratch.path}'
git clone --quiet --shared --no-checkout clone.git tree-$1
cd tree-$1
git fetch --quiet --prune '${docs.path}' '+refs/heads/main:refs/remotes/origin/main'
git checkout --quiet -B agent/script_$1 origin/main
${change}
git add --all
git -c user.name=a -c user.email=a@example.com commit --quiet --message 'Say more'
git push --quiet '${docs.path}' HEAD:refs/heads/agent/script_$1
cd ..
rm -rf tree-$1
`,
  );
  await run("git", ["clone", "--quiet", "--bare", docs.path, join(scratch.path, "clone.git")]);
  const limit = pLimit(atOnce);
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: turns }, (_, index) => limit(() => run("/bin/sh", [script, String(index)]))));
  return turns / ((performance.now() - startedAt) / 60_000);
}
