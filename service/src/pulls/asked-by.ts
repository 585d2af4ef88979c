import * as z from "zod/mini";
import { type GitHubRepository, hostOf } from "./github/github-repository.ts";

const askedShape = z.object({ by: z.optional(z.string()), in: z.optional(z.string()), run: z.optional(z.string()) });

const login = /^[a-z\d](?:[a-z\d-]{0,98})(?:\[bot\])?$/i;

type Place = Pick<GitHubRepository, "apiUrl" | "owner" | "name">;

/** Takes the place of a prompt that must not be published. */
const askedElsewhere = "Change what was asked for in another repository";

/** Returns an address without its query, if it is in a repository and its path there has a syntax. */
function addressIn({ apiUrl, owner, name }: Place, address: string, syntax: RegExp): string | undefined {
  const { hostname, origin, pathname = "" } = URL.parse(address) ?? {};
  const root = `/${owner}/${name}/`.toLowerCase();
  const isHere = hostname === hostOf(apiUrl) && pathname.toLowerCase().startsWith(root);
  return isHere && syntax.test(pathname.slice(root.length)) ? `${origin}${pathname}` : undefined;
}

const threadSyntax = /^(?:issues|pull|discussions)\/\d+$/;

/** Returns whether a turn was asked for in a thread that is not one of a repository on GitHub, so that it may be private. */
export function isAskedElsewhere(asked: string | null | undefined, repository: Place | undefined): boolean {
  const { in: place } = readAsked(asked);
  return place !== undefined && !(repository && addressIn(repository, place, threadSyntax));
}

/** Returns what is published of a prompt, in messages, titles and bodies: not what a thread elsewhere says. */
export const publicPrompt = (
  { prompt, asked }: { prompt: string; asked?: string | null | undefined },
  repository: Place | undefined,
): string => (isAskedElsewhere(asked, repository) ? askedElsewhere : prompt);

/**
 * Says in Markdown who asked for a turn, where and in which run, with links that notify nobody.
 *
 * @param asked - an `Asked` as JSON. Untrusted
 * @returns an empty text if the run is unknown, or of another repository, which may be private
 */
export function describeAsked(asked: string | null | undefined, repository: Place): string {
  const { by = "", in: place = "", run = "" } = readAsked(asked);
  const runPage = addressIn(repository, run, /^actions\/runs\/\d+(?:\/attempts\/\d+)?$/);
  if (runPage === undefined) return "";
  const thread = addressIn(repository, place, threadSyntax);
  const person = login.test(by) && (by.endsWith("]") ? by : `[${by}](${new URL(`/${by}`, runPage)})`);
  const words = [
    ...(person ? [`by ${person}`] : []),
    ...(thread === undefined ? [] : [`in [#${thread.replace(/.*\//, "")}](${thread})`]),
  ].join(" ");
  return [...(words === "" ? [] : [`Asked ${words}`]), `[run](${runPage})`].join(" · ");
}

function readAsked(asked: string | null | undefined): z.infer<typeof askedShape> {
  try {
    return askedShape.parse(JSON.parse(asked ?? "{}"));
  } catch {
    // The copy of a job can have any text.
    return {};
  }
}
