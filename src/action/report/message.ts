import type { Text } from "./text.ts";

/** The end of a run in words for people. */
export interface Message {
  title: string;
  /** What happened, and whether a job runs now. */
  what: Text;
  /** The points of `what`, where it has several. */
  points?: readonly Text[];
  /** What to do next; empty where there is nothing to do. */
  next: Text;
}
