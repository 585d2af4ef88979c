import type { Turn } from "../model.ts";
import { publicPrompt } from "../pulls/asked-by.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import { type Secret, SecretPatterns } from "../secret-patterns.ts";

/** A service without a persistent store uses timestamps as ids, to avoid collisions. */
const largestCount = 1_000_000_000;

/** Returns a turn's name for logs, with its number only if that is a count, which pages and commands accept. */
export function turnName(id: number): string {
  return id > largestCount ? "the turn" : `turn ${id}`;
}

type Shown = Pick<Turn, "prompt" | "asked">;
interface TitleContext {
  secrets?: Iterable<Secret> | undefined;
  titlePrefix?: string | undefined;
  pullRequests?: Pick<PullRequests, "repository"> | undefined;
}

/** Returns what is published of a turn's prompt: a workflow can put a secret into it, or the text of a private thread. */
export const shownPrompt = (turn: Shown, { secrets = [], pullRequests }: Omit<TitleContext, "titlePrefix">) =>
  new SecretPatterns(secrets).remove(publicPrompt(turn, pullRequests?.repository));

/** Returns the title of a turn's commit, with the current options. */
export const titleOf = async (turn: Shown, context: TitleContext): Promise<string> =>
  commitTitle(await shownPrompt(turn, context), context.titlePrefix);
