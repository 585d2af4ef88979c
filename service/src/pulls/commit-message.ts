import type { Turn } from "../model.ts";
import { commitTitle } from "./commit-title.ts";
import { inertText } from "./inert-text.ts";
import { requestTrailer, turnTrailers } from "./turn-trailers.ts";

/** In characters, of the agent's own messages together. */
const maxLength = 10_000;

/**
 * Returns the message of a turn's commit: the title, the messages of the agent's own commits, and trailers that name the turn and its request.
 *
 * @param ownMessages - indented, so that none of their lines is a trailer
 */
export function commitMessage(turn: Turn, ownMessages: readonly string[]): string {
  const text = ownMessages
    .map((message) => inertText(plainLines(message)).trim())
    .filter((message) => message !== "")
    .join("\n\n");
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}\n[truncated]` : text;
  const body = shown === "" ? [] : ["Commits of the agent:", shown.replace(/^(?=.)/gm, "    ")];
  const trailers = [...turnTrailers(turn), ...requestTrailer(turn)].join("\n");
  return `${[commitTitle(turn.prompt), ...body, trailers].join("\n\n")}\n`;
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
