import type { KeptWork } from "./model.ts";

/** Thrown when nothing can be stored now (a full disk, a lost connection). Nothing was accepted. */
export class StoreUnavailable extends Error {}

/** Thrown when the repository or copies of jobs cannot be read. Nothing was accepted. The message is for clients, too. */
export class SourceUnavailable extends StoreUnavailable {
  /** Whether it is of no use to ask again. */
  readonly isLasting: boolean;

  constructor(message: string, isLasting = false) {
    super(message);
    this.isLasting = isLasting;
  }
}

/**
 * How likely what failed fails again: an error can say so. `probably`: if it has failed twice, some seconds apart. Default: it may succeed
 * at any time.
 */
export interface Lasting {
  readonly lasts: "probably" | "certainly" | undefined;
}

/** Thrown when the connection to the store was lost during a change, so that it is unknown whether the change was stored. */
export class OutcomeUnknown extends Error {}

/** Thrown when the key of a request was used for another one: another prompt, another job, or a create. Nothing was changed. */
export class KeyReused extends Error {
  constructor() {
    super("the key was used for another request");
  }
}

/** Thrown when somebody else has taken a turn over, because its lease had expired. Nothing was changed. */
export class LeaseLost extends Error {
  /** @param turn - its number, or the job whose turn it is */
  constructor(turn: number | string) {
    super(`${typeof turn === "number" ? "turn" : "the turn of"} ${turn} was taken over, because its lease had expired`);
  }
}

/** Thrown when a commit may be kept that cannot be read now. It is paid for, so no agent runs in its place. */
export class KeptUnreadable extends Error {
  readonly kept: KeptWork | null;

  /** @param kept - what is kept of the turn that fails for it. Default: a commit */
  constructor(reason: string, kept: KeptWork | null = "push") {
    super(`What is kept of an earlier attempt cannot be read now: ${reason}. So no agent was run.`);
    this.kept = kept;
  }
}

/** Thrown when a create names a base that is no branch of the repository. Nothing was changed. */
export class UnknownBase extends Error {
  constructor(base: string) {
    super(`base: the repository has no branch ${base}`);
  }
}
