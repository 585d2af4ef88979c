import type { Turn } from "../model.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { type Secret, SecretPatterns } from "../secret-patterns.ts";

/** Ids of a service without a store of its own are times, to be distinct from those of others. */
const largestCount = 1_000_000_000;

/** Names a turn in a log. A number that counts turns is also what pages and commands take; one that is a time helps nobody. */
export function turnName(id: number): string {
  return id > largestCount ? "the turn" : `turn ${id}`;
}

/** Returns the title of a turn's commit, with the options of today and without secrets. */
export async function titleOf(
  { prompt }: Pick<Turn, "prompt">,
  { secrets = [], titlePrefix }: { secrets?: Iterable<Secret> | undefined; titlePrefix?: string | undefined },
): Promise<string> {
  return commitTitle(await new SecretPatterns(secrets).remove(prompt), titlePrefix);
}
