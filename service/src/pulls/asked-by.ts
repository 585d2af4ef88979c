import * as z from "zod/mini";
import { type GitHubRepository, hostOf } from "./github/github-repository.ts";

const askedShape = z.object({ by: z.optional(z.string()), in: z.optional(z.string()), run: z.optional(z.string()) });

const login = /^[a-z\d](?:[a-z\d-]{0,98})(?:\[bot\])?$/i;

/**
 * Says in Markdown who asked for a turn, where and in which run, with links that notify nobody.
 *
 * @param asked - an `Asked` as JSON. Untrusted
 * @returns an empty text if the run is unknown, or of another repository, which may be private
 */
export function describeAsked(
  asked: string | null | undefined,
  { apiUrl, owner, name }: Pick<GitHubRepository, "apiUrl" | "owner" | "name">,
): string {
  const { by = "", in: place = "", run = "" } = readAsked(asked);
  const root = `/${owner}/${name}/`.toLowerCase();
  /** Returns an address in this repository if its path there has a syntax. */
  const here = (address: string, syntax: RegExp): string | undefined => {
    const { hostname, origin, pathname = "" } = URL.parse(address) ?? {};
    const isHere = hostname === hostOf(apiUrl) && pathname.toLowerCase().startsWith(root);
    return isHere && syntax.test(pathname.slice(root.length)) ? `${origin}${pathname}` : undefined;
  };
  const runPage = here(run, /^actions\/runs\/\d+(?:\/attempts\/\d+)?$/);
  if (runPage === undefined) return "";
  const thread = here(place, /^(?:issues|pull|discussions)\/\d+$/);
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
