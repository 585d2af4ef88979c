import { inertText } from "../../../src/runner-kit/inert-text.ts";
import type { StoredJob, Turn } from "../model.ts";
import { hashPrompt } from "../prompt-hash.ts";
import { commitTitle } from "./commit-title.ts";
import {
  baseTrailer,
  leftPrefix,
  type NamedTurn,
  requestTrailer,
  sessionTrailer,
  turnTrailers,
} from "./turn-trailers.ts";

/** In characters, of the agent's own messages together. */
const maxLength = 10_000;
/** In lines. */
const maxListed = 50;
const notesTitle = "Of the agent's run:";
const takenBackTitle = "Taken back, because it is outside of --only:";

/** How a note begins that says that a part of an agent's work is not in its change. */
export const leftWorkNote = "The agent left work in its clone that is not in this change";

/** How a note begins that says which files of a change were begun for another request. */
export const beganEarlierNote = "Begun for an earlier request that did not complete";

/** What a commit tells of how its change was made. */
export interface CommitNotes {
  /** What people should know first, each in one line. Default: nothing. */
  notes?: readonly string[] | undefined;
  /** The files whose changes were taken back, each in one line. Default: none. */
  takenBack?: readonly string[] | undefined;
  /** See `NamedTurn`. Default: a change that is for a branch. */
  left?: NamedTurn["left"];
  /** See `NamedTurn`. Default: none. */
  until?: number | undefined;
  begunIn?: readonly number[] | undefined;
}

/**
 * Returns the message of a turn's commit: the title, the messages of the agent's own commits, and trailers that name the turn, its request, and the session and base of its job.
 *
 * @param ownMessages - indented, so that none of their lines is a trailer
 * @param job - default: one with neither
 * @param title - default: the prompt's
 */
export function commitMessage(
  turn: Turn & { promptHash?: string | undefined },
  ownMessages: readonly string[],
  { session = null, base = null }: Partial<Pick<StoredJob, "session" | "base">> = {},
  { notes = [], takenBack = [], left, until, begunIn = [] }: CommitNotes = {},
  title = commitTitle(turn.prompt),
): string {
  const text = ownMessages
    .map((message) => inertText(plainLines(message)).trim())
    .filter((message) => message !== "")
    .join("\n\n");
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}\n[truncated]` : text;
  const body = shown === "" ? [] : ["Commits of the agent:", shown.replace(/^(?=.)/gm, "    ")];
  const own = [...turnTrailers(turn), ...requestTrailer(turn), ...sessionTrailer(session), ...baseTrailer(base)];
  const covered = turn.covers === null ? [] : [`Agent-Covers: ${turn.covers}`];
  const time = until === undefined ? "" : ` until ${new Date(until).toISOString()}`;
  const earlier = begunIn.length === 0 ? "" : ` in ${begunIn.join(",")}`;
  if (left !== undefined) covered.push(`${leftPrefix}${left}${time}${earlier}`);
  const trailers = [...own, `Agent-Prompt: ${turn.promptHash ?? hashPrompt(turn.prompt)}`, ...covered].join("\n");
  const told = [...listOf(notesTitle, notes), ...listOf(takenBackTitle, takenBack)];
  return `${[title, ...body, ...told, trailers].join("\n\n")}\n`;
}

/** Returns a list as paragraphs, indented, so that none of its lines is a title or a trailer; none if it is empty. */
function listOf(title: string, all: readonly string[]): string[] {
  const lines = all.slice(0, maxListed).map((line) => `    ${inertText(line)}`);
  const more = all.length > maxListed ? [`and ${all.length - maxListed} more`] : [];
  return lines.length === 0 ? [] : [title, lines.join("\n"), ...more];
}

/** Returns the notes in a commit's message on how its change was made. `undefined` if it has none. */
export function readNotes(message: string): CommitNotes {
  return { notes: readList(message, notesTitle), takenBack: readList(message, takenBackTitle) };
}

function readList(message: string, title: string): string[] | undefined {
  const start = message.indexOf(`\n\n${title}\n\n`);
  if (start < 0) return undefined;
  const [, lines = "", more = ""] = message.slice(start + 2).split("\n\n");
  return [...lines.split("\n").map((line) => line.trim()), ...(/^and \d/.test(more) ? [more] : [])];
}

/** Returns whether a message belongs to the turn's commit. */
export function isCommitOf(turn: Pick<Turn, "id" | "identity" | "job">, message: string): boolean {
  const lines = message.trimEnd().split("\n").slice(1);
  return (
    turnTrailers(turn).every((trailer) => lines.includes(trailer)) && !lines.some((line) => line.startsWith(leftPrefix))
  );
}

/** Removes what could look like another line, or hide text. */
function plainLines(text: string): string {
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n").replace(/[^\P{C}\n\t]/gu, "");
}
