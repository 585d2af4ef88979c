import type { Text } from "./text.ts";

/** The result of a run in words, for annotation, summary and reply. */
export interface Message {
  title: string;
  /** What happened, and whether a job is running now. */
  what: Text;
  /** A list that belongs to `what`. */
  points?: readonly Text[];
  /** What to do next; empty if there is nothing to do. */
  next: Text;
}
