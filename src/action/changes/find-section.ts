import { messageOf } from "../../client/errors.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import { connectGitHub, type Run } from "../run.ts";
import { serverUrl } from "../runner/environment.ts";
import { readEventFile } from "../runner/event-file.ts";
import type { ChangesSettings } from "../settings.ts";
import { isNothingNew } from "./changes.ts";
import { RangeBehindError } from "./range.ts";
import { type ChangesQuery, readChanges } from "./read-changes.ts";

/**
 * Returns the section of the prompt that says what changed; empty if the event has nothing to compare. If nothing new has
 * changed, or if GitHub cannot be asked, the result says so, and nothing may be sent. Never rejects.
 */
export async function findSection(
  settings: ChangesSettings,
  remembered: Pick<ChangesQuery, "lastCommit" | "firstBase" | "ownPullRequests">,
  run: Run,
): Promise<{ section: string } | RunResult> {
  const { state, log } = run;
  const { clock, signal, environment } = run.ports;
  const event = {
    name: environment.GITHUB_EVENT_NAME ?? "",
    readPayload: () => readEventFile(environment.GITHUB_EVENT_PATH ?? ""),
    sha: environment.GITHUB_SHA ?? "",
  };
  const repository = environment.GITHUB_REPOSITORY ?? "";
  try {
    const github = await connectGitHub(run);
    const read = await readChanges(
      { ...settings, ...remembered, event, repository, serverUrl: serverUrl(environment) },
      {
        ...{ clock, signal, github },
        onReplacedStart: (base) => log.changes({ kind: "replaced-start", base }),
        onMessages: (pullRequest) => log.changes({ kind: "by-message", pullRequest }),
      },
    );
    state.changes = read?.changes;
    if (!read) {
      log.changes({ kind: "nothing-to-compare", eventName: event.name });
      return { section: "" };
    }
    const { changes, section } = read;
    if (isNothingNew(changes)) {
      log.changes({ kind: "nothing-new", changes });
      return { kind: "skipped", reason: "nothing-new" };
    }
    log.changes({ kind: "found", changes });
    return { section };
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    if (error instanceof RangeBehindError) {
      return { kind: "blocked", cause: "range-behind", base: error.base, head: error.head };
    }
    return { kind: "blocked", cause: "changes", detail: messageOf(error) };
  }
}
