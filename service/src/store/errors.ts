/** Thrown when nothing can be stored now, such as on a full disk, or copies of jobs cannot be read. Nothing was accepted. */
export class StoreUnavailable extends Error {}

/** Thrown when it cannot be found out whether a change was stored, because the connection to the store was lost meanwhile. */
export class OutcomeUnknown extends Error {}
