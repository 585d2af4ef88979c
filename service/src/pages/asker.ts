import { type Html, html } from "./html.ts";

/** Who asked for a turn, as it is stored. */
export interface TurnAsker {
  /** See `PromptContext`. */
  asked: string | null;
  asker: string;
}

/** Renders who asked, in which issue or pull request, and in which run; `undefined` if nothing of it is known. */
export function renderAsker({ asked, asker }: TurnAsker, basePath: string): Html | undefined {
  const { in: place, run } = addressesIn(asked);
  const name = asker !== "" && html`<a href="${basePath}/?${String(new URLSearchParams({ asker }))}">${asker}</a>`;
  const where = place && html` in <a href="${place}">${nameOf(place)}</a>`;
  const when = run && html` · <a href="${run}">run</a>`;
  return name || where || when ? html`${name}${where}${when}` : undefined;
}

/** It may come from a copy, in which anything can be. */
function addressesIn(asked: string | null): { in?: string; run?: string } {
  try {
    const { in: place, run } = JSON.parse(asked ?? "{}") as Record<string, unknown>;
    return { ...(isAddress(place) && { in: place }), ...(isAddress(run) && { run }) };
  } catch {
    return {};
  }
}

const isAddress = (text: unknown): text is string => typeof text === "string" && /^https?:\/\//i.test(text);

/** Returns how people name an issue or a pull request: by its number. */
const nameOf = (address: string): string =>
  /\/(?:issues|pull|discussions)\/(\d{1,9})/.exec(address)?.[1]?.replace(/^/, "#") ?? "a thread";
