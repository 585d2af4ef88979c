import { isBranchName } from "../git/clone-refs.ts";
import { type RequestKey, type Turn, turnIdSyntax } from "../model.ts";

/** What the trailers of a commit say about the turn that made it. Untrusted: whoever may push can have written them. */
export interface NamedTurn {
  turn: number;
  identity: string;
  job: string;
  /** The key of its request; `undefined` if it had none that a trailer can tell. */
  key: Pick<RequestKey, "step" | "request"> | undefined;
  /** The session of its job; `undefined` if it has none. */
  session: string | undefined;
  /** The branch that its job starts from; `undefined` if that is the project's, or has a name that no branch has. */
  base: string | undefined;
  /** The hash of its prompt. */
  promptHash: string | undefined;
  /** The commit up to which it was told of changes, after `+` if it was not told of all; `undefined` if it was told of none. */
  covers: string | undefined;
  /**
   * What it has left if the commit is none of a branch: an unfinished change, nothing although it completed, or nothing because it failed.
   * `stopped`: an unfinished change that no agent goes on with. `pushed`: a branch has its change. `begun`: it is worked on, until a time at
   * most.
   */
  left: "unfinished" | "nothing" | "failed" | "stopped" | "pushed" | "begun" | undefined;
  /** That time, in milliseconds since 1970; `undefined` if none is named. */
  until: number | undefined;
  /** The turns whose unfinished work that agent began in. */
  begunIn: readonly number[];
}

/** Keys of other clients can have any characters, which could look like something else in a message. */
const part = /^[\w-]{1,128}$/;

/** Returns the last lines of the message of a turn's commit, which name the turn. */
export const turnTrailers = (turn: Pick<Turn, "id" | "identity" | "job">): string[] => [
  `Agent-Turn: ${turn.id}.${turn.identity}`,
  `Agent-Job: ${turn.job}`,
];

/** Returns the message of a merge for a job: it names that, and no turn. */
export const mergeMessage = (other: string, branch: string, job: string): string =>
  `Merge branch '${other}' into ${branch}\n\nAgent-Job: ${job}\n`;

/** Returns the line that names the request of a turn, by which an attempt on another machine finds it. */
export function requestTrailer({ step, request }: Pick<Turn, "step" | "request">): string[] {
  const prefix = stepPrefix(step);
  return prefix !== undefined && part.test(request) ? [`${prefix}${request}`] : [];
}

/** Returns the beginning of the line that names a request of a step; `undefined` if no trailer can tell that step. */
export function stepPrefix(step: string): string | undefined {
  return part.test(step) ? `Agent-Request: ${step}.` : undefined;
}

/** Returns the line that names the session of a job, by which a run on another machine finds the job. */
export function sessionTrailer(session: string | null): string[] {
  return session !== null && part.test(session) ? [`${sessionPrefix}${session}`] : [];
}

export const sessionPrefix = "Agent-Session: ";

/** In characters, of the encoded name of a branch, which is the longest that GitHub has. */
const maxBaseLength = 3000;

/** Returns the line that names the base of a job: encoded, so that nobody is mentioned by it, and nothing referred to. */
export function baseTrailer(base: string | null): string[] {
  const name = base?.isWellFormed() ? encodeURIComponent(base).replace(/-(?=\d)/g, "%2D") : "";
  return name === "" || name.length > maxBaseLength ? [] : [`Agent-Base: ${name}`];
}

/** Returns the branch that such a line names; `undefined` if it names none. */
function baseOf(name: string | undefined): string | undefined {
  try {
    const base = decodeURIComponent(name ?? "");
    return isBranchName(base) && !/\p{Cc}/u.test(base) ? base : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the message of a commit with trailers of the operator before those that name the turn, in the same paragraph. They take
 * the place of such trailers that it has.
 */
export function withTrailers(message: string, lines: readonly string[]): string {
  const own = message.lastIndexOf("\nAgent-Turn: ") + 1 || message.lastIndexOf("\nAgent-Job: ") + 1;
  if (own === 0) return message;
  const paragraph = message.lastIndexOf("\n\n", own) + 2;
  return [message.slice(0, paragraph), ...lines.map((line) => `${line}\n`), message.slice(own)].join("");
}

/** In place of a turn's: of a commit that only tries whether its message may be pushed, and counts for nothing. */
export const trialIdentity = "0".repeat(32);

/** Returns the turn that a commit only tries the message of; `undefined` if it does not, or for another job. */
export function triedTurn(message: string, job: string): number | undefined {
  const [, turn] = new RegExp(`^Agent-Turn: (\\d+)\\.${trialIdentity}\nAgent-Job: ${job}$`, "m").exec(message) ?? [];
  return turn === undefined ? undefined : Number(turn);
}

/** Begins the last line of a commit that no branch ever has; see `NamedTurn.left`. */
export const leftPrefix = "Agent-Left: ";

/** A title or an agent's own message cannot contain these lines: the one is the first line, the other is indented. */
const trailers = new RegExp(
  `^Agent-Turn: (${turnIdSyntax.source})\\.(?!${trialIdentity})([0-9a-f]{32})\nAgent-Job: (job_[0-9a-f-]{36})(?:\nAgent-Request: ([\\w-]{1,128})\\.([\\w-]{1,128}))?(?:\nAgent-Session: ([\\w-]{1,128}))?(?:\nAgent-Base: ([\\w.%!~*'()-]{1,${maxBaseLength}}))?(?:\nAgent-Prompt: ([0-9a-f]{32}))?(?:\nAgent-Covers: (\\+?[0-9a-f]{40,64}))?(?:\n${leftPrefix}(unfinished|nothing|failed|stopped|pushed|begun)(?: until (\\d{4}-\\d\\d-\\d\\dT[\\d:.]{8,12}Z))?(?: in ([\\d,]{1,200}))?)?$`,
  "gm",
);

/** Returns the turns that a message names, in that order: several if a merge squashed their commits. */
export function namedTurns(message: string): NamedTurn[] {
  const afterSubject = message.replaceAll("\r\n", "\n").replace(/^.*/, "");
  return [...afterSubject.matchAll(trailers)].map(
    ([
      ,
      turn,
      identity = "",
      job = "",
      step,
      request,
      session,
      base,
      promptHash,
      covers,
      left,
      until = "",
      begunIn = "",
    ]) => ({
      turn: Number(turn),
      identity,
      job,
      key: step === undefined || request === undefined ? undefined : { step, request },
      session,
      base: baseOf(base),
      promptHash,
      covers,
      left: left as NamedTurn["left"],
      until: Date.parse(until) || undefined,
      begunIn: begunIn.split(",").filter(Boolean).map(Number),
    }),
  );
}
