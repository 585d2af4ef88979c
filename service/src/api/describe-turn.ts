import { knownCost } from "../cost.ts";
import type { StepTurn, TurnStatus } from "../model.ts";

/** A turn as the API shows it to its sender. */
export interface ShownTurn {
  job: string;
  turn: string;
  request: string;
  status: TurnStatus;
  /** What its agent said last. Absent if that is unknown. */
  message?: string;
  /** Absent if it is unknown. */
  usage?: {
    /** By the agent's own estimate. */
    costUsd: number;
  };
}

/** In characters. */
const maxMessageLength = 4000;

/** Returns a turn as the API shows it. */
export function describeTurn({ id, job, request, status, answer, costUsd }: StepTurn): ShownTurn {
  const message = answer?.trim() ?? "";
  const cost = knownCost(costUsd);
  return {
    job,
    turn: String(id),
    request,
    status,
    ...(message !== "" && { message: shortened(message) }),
    ...(cost !== undefined && { usage: { costUsd: cost } }),
  };
}

function shortened(text: string): string {
  if (text.length <= maxMessageLength) return text;
  // Half of a character would not be text.
  return `${text.slice(0, maxMessageLength - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
