/** Thrown when nothing can be stored now (a full disk, a lost connection) or copies of jobs cannot be read. Nothing was accepted. */
export class StoreUnavailable extends Error {}

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

/** Thrown when a create names a base that is no branch of the repository. Nothing was changed. */
export class UnknownBase extends Error {
  constructor(base: string) {
    super(`base: the repository has no branch ${base}`);
  }
}
