import type { Turn } from "../model.ts";
import { hashPrompt } from "../prompt-hash.ts";
import { commitTitle } from "./commit-title.ts";
import { inertText } from "./inert-text.ts";
import { requestTrailer, sessionTrailer, turnTrailers } from "./turn-trailers.ts";

/** In characters, of the agent's own messages together. */
const maxLength = 10_000;
const maxTakenBack = 50;
const takenBackTitle = "Taken back, because it is outside of --only:";

/**
 * Returns the message of a turn's commit: the title, the messages of the agent's own commits, and trailers that name the turn, its request and the session.
 *
 * @param ownMessages - indented, so that none of their lines is a trailer
 * @param session - of the job. Default: none
 * @param takenBack - the files whose changes were taken back, each in one line. Default: none
 * @param shownPrompt - the prompt as people may read it. Default: as it was sent
 */
export function commitMessage(
  turn: Turn,
  ownMessages: readonly string[],
  session: string | null = null,
  takenBack: readonly string[] = [],
  shownPrompt = turn.prompt,
): string {
  const text = ownMessages
    .map((message) => inertText(plainLines(message)).trim())
    .filter((message) => message !== "")
    .join("\n\n");
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}\n[truncated]` : text;
  const body = shown === "" ? [] : ["Commits of the agent:", shown.replace(/^(?=.)/gm, "    ")];
  const own = [...turnTrailers(turn), ...requestTrailer(turn), ...sessionTrailer(session)];
  const trailers = [...own, `Agent-Prompt: ${hashPrompt(turn.prompt)}`].join("\n");
  const names = takenBack.slice(0, maxTakenBack).map((path) => `    ${inertText(path)}`);
  const more = takenBack.length > maxTakenBack ? [`and ${takenBack.length - maxTakenBack} more`] : [];
  const told = names.length === 0 ? [] : [takenBackTitle, names.join("\n"), ...more];
  return `${[commitTitle(shownPrompt), ...body, ...told, trailers].join("\n\n")}\n`;
}

/** Returns what a commit's message tells of changes that were taken back, as lines; `undefined` if there is nothing. */
export function readTakenBack(message: string): string[] | undefined {
  const start = message.indexOf(`\n\n${takenBackTitle}\n\n`);
  if (start < 0) return undefined;
  const [, names = "", more = ""] = message.slice(start + 2).split("\n\n");
  return [...names.split("\n").map((name) => name.trim()), ...(more.startsWith("and ") ? [more] : [])];
}

/** Returns whether a message belongs to the turn's commit. */
export function isCommitOf(turn: Turn, message: string): boolean {
  const lines = message.trimEnd().split("\n").slice(1);
  return turnTrailers(turn).every((trailer) => lines.includes(trailer));
}

/** Removes what could look like another line, or hide text. */
function plainLines(text: string): string {
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n").replace(/[^\P{C}\n\t]/gu, "");
}
