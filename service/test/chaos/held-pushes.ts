import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

/** How long a push is held up: longer than a lease, so that another worker has taken the turn over when it arrives. */
export const heldMs = 45_000;
const waitForPushMs = 20_000;

/**
 * Holds up pushes to a repository, and pauses the process that pushes meanwhile. A hook of the repository does both, because it
 * knows that a push has begun.
 */
export class HeldPushes {
  /** The hook takes it when it holds up a push. */
  readonly #request: string;
  /** Gets the process that was paused. */
  readonly #paused: string;

  /** @param repository - the bare repository that is pushed to */
  constructor(repository: string) {
    this.#request = join(repository, "hold-next-push");
    this.#paused = join(repository, "paused");
    const hook = join(repository, "hooks", "pre-receive");
    writeFileSync(hook, hookOf(this.#request, this.#paused));
    chmodSync(hook, 0o755);
  }

  /**
   * Holds up the next push. Returns when its process goes on, or if nobody pushes.
   *
   * @param pauseMs - how long the process is paused
   */
  async holdNext(pauseMs: number): Promise<boolean> {
    rmSync(this.#paused, { force: true });
    writeFileSync(this.#request, "");
    for (let waited = 0; !existsSync(this.#paused); waited += 100) {
      if (waited > waitForPushMs) {
        rmSync(this.#request, { force: true });
        if (!existsSync(this.#paused)) return false;
      }
      await setTimeout(100);
    }
    await setTimeout(pauseMs);
    try {
      process.kill(Number(readFileSync(this.#paused, "utf8")), "SIGCONT");
    } catch {
      // It was killed meanwhile.
    }
    return true;
  }
}

/** The worker is the first process above the hook that is no part of Git. */
const hookOf = (request: string, paused: string): string => `#!/bin/sh
mv '${request}' '${request}'.$$ 2>/dev/null || exit 0
rm '${request}'.$$
pid=$PPID
while [ "$pid" -gt 1 ]; do
  case $(ps -o comm= -p "$pid") in git*|sh|bash|dash) pid=$(ps -o ppid= -p "$pid" | tr -d ' ');; *) break;; esac
done
kill -STOP "$pid" && echo "$pid" > '${paused}'.new && mv '${paused}'.new '${paused}'
sleep ${heldMs / 1000}
exit 0
`;
