import type { Turn } from "../model.ts";

/** What the trailers of a commit say about the turn that made it. Untrusted: whoever may push can have written them. */
export interface NamedTurn {
  turn: number;
  job: string;
}

/** Returns the last lines of the message of a turn's commit, which name the turn. */
export const turnTrailers = (turn: Pick<Turn, "id" | "job">): string[] => [
  `Agent-Turn: ${turn.id}`,
  `Agent-Job: ${turn.job}`,
];

/** A title or an agent's own message cannot contain these lines: the one is the first line, the other is indented. */
const trailers = /^Agent-Turn: (\d{1,16})\nAgent-Job: (job_[0-9a-f-]{36})$/gm;

/** Returns the turns that a message names, in that order: several if a merge squashed their commits. */
export function namedTurns(message: string): NamedTurn[] {
  const afterSubject = message.replaceAll("\r\n", "\n").replace(/^.*/, "");
  return [...afterSubject.matchAll(trailers)].map(([, turn, job = ""]) => ({ turn: Number(turn), job }));
}
