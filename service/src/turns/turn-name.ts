import type { Turn } from "../model.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { type Secret, SecretPatterns } from "../secret-patterns.ts";

/** A service without a persistent store uses timestamps as ids, to avoid collisions. */
const largestCount = 1_000_000_000;

/** Returns a turn's name for logs, with its number only if that is a count, which pages and commands accept. */
export function turnName(id: number): string {
  return id > largestCount ? "the turn" : `turn ${id}`;
}

/** Returns the title of a turn's commit, with the current options and without secrets. */
export async function titleOf(
  { prompt }: Pick<Turn, "prompt">,
  { secrets = [], titlePrefix }: { secrets?: Iterable<Secret> | undefined; titlePrefix?: string | undefined },
): Promise<string> {
  return commitTitle(await new SecretPatterns(secrets).remove(prompt), titlePrefix);
}
