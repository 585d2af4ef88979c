import { messageOf } from "../../client/errors.ts";
import type { ChangesSettings } from "../inputs/schema.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import type { RunState } from "../run-state.ts";
import type { GitHub } from "../runner/github.ts";
import { type Changes, isNothingNew } from "./changes.ts";
import type { ChangesPorts, ChangesQuery } from "./read-changes.ts";

/** What the log has to say about changes. */
export type ChangesEvent =
  | { kind: "found"; changes: Changes }
  | { kind: "nothing-new"; changes: Changes }
  /** The event has nothing to compare. */
  | { kind: "nothing-to-compare"; eventName: string }
  /** The start of the range is no longer part of the history, so the range is the last day. */
  | { kind: "replaced-start"; base: string };

export interface FindChangesPorts extends Omit<ChangesPorts, "github" | "onReplacedStart"> {
  connectGitHub: () => Promise<GitHub>;
  onEvent: (event: ChangesEvent) => void;
}

/**
 * Returns the section of the prompt that says what changed; empty if the event has nothing to compare. If nothing new has
 * changed, or if GitHub cannot be asked, the result says so, and nothing may be sent. Never rejects.
 */
export async function findChanges(
  { since, paths, withPatches }: ChangesSettings,
  query: Omit<ChangesQuery, keyof ChangesSettings>,
  { connectGitHub, onEvent, ...ports }: FindChangesPorts,
  state: RunState,
): Promise<{ section: string } | RunResult> {
  try {
    // Loaded here, because most steps do not ask for changes.
    const { readChanges } = await import("./read-changes.ts");
    const onReplacedStart = (base: string): void => onEvent({ kind: "replaced-start", base });
    const github = await connectGitHub();
    const read = await readChanges({ ...query, since, paths, withPatches }, { ...ports, github, onReplacedStart });
    state.changes = read?.changes;
    if (!read) {
      onEvent({ kind: "nothing-to-compare", eventName: query.event.name });
      return { section: "" };
    }
    const { changes, section } = read;
    if (isNothingNew(changes)) {
      onEvent({ kind: "nothing-new", changes });
      return { kind: "skipped", reason: "nothing-new" };
    }
    onEvent({ kind: "found", changes });
    return { section };
  } catch (error) {
    if (ports.signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "changes", detail: messageOf(error) };
  }
}
