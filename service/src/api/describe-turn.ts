import { knownCost } from "../cost.ts";
import type { CheckResult, FailureClass, KeptWork, StepTurn, TurnStatus } from "../model.ts";
import { madeNothing } from "../store/made.ts";

/** A turn as the API shows it to its sender. */
export interface ShownTurn {
  job: string;
  turn: string;
  request: string;
  status: TurnStatus;
  /** What its agent said last. Absent if that is unknown. */
  message?: string;
  /** Why it failed or was stopped. Absent if it did not, or that is unknown. */
  reason?: string;
  /** The kind of the failure. Absent if it did not fail, or that is unknown. */
  class?: FailureClass;
  /** What is kept of its work, which the next turn of its job publishes first or begins in. Absent if nothing is. */
  kept?: KeptWork;
  /** `none`: its agent completed, and changed nothing. Absent if it did not, or that is unknown. */
  change?: "none";
  /** What the check of its commit showed. Absent if it was not checked. */
  check?: CheckResult;
  /** Absent if it is unknown. */
  usage?: {
    /** By the agent's own estimate. */
    costUsd: number;
  };
}

/** In characters. */
const maxMessageLength = 4000;
const maxReasonLength = 1000;

/** Returns a turn as the API shows it. */
export function describeTurn({
  id,
  job,
  request,
  status,
  answer,
  costUsd,
  reason,
  failureClass,
  kept,
  made,
  checkResult,
}: StepTurn): ShownTurn {
  const message = answer?.trim() ?? "";
  // A running turn that is to be stopped has one, too.
  const why = status === "failed" || status === "stopped" ? (reason?.trim() ?? "") : "";
  const cost = knownCost(costUsd);
  return {
    job,
    turn: String(id),
    request,
    status,
    ...(message !== "" && { message: shortened(message, maxMessageLength) }),
    ...(why !== "" && { reason: shortened(why, maxReasonLength, maxReasonLength / 2) }),
    ...(failureClass !== null && { class: failureClass }),
    ...(kept !== null && { kept }),
    ...(status === "completed" && madeNothing({ made }) && { change: "none" }),
    ...(checkResult !== null && { check: checkResult }),
    ...(cost !== undefined && { usage: { costUsd: cost } }),
  };
}

/** @param end - how many of the last characters are kept: they say what to do. Default: none */
function shortened(text: string, maxLength: number, end = 0): string {
  if (text.length <= maxLength) return text;
  // Half of a character would not be text.
  const start = text.slice(0, maxLength - end - 1).replace(/[\uD800-\uDBFF]$/, "");
  return `${start}…${text.slice(text.length - end).replace(/^[\uDC00-\uDFFF]/, "")}`;
}
