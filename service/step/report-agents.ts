import { join, say, type Text } from "../../src/runner-kit/text.ts";
import { forAnnotation } from "../../src/runner-kit/untrusted.ts";
import { behindNote, changedAlreadyNote, isStartNote, newSessionNote, noChangeNote } from "../src/turns/log-notes.ts";
import type { Runner } from "./runner.ts";

/** What the service writes in front of its notes in a job's log. */
const prefix = "[service] ";

/**
 * Says of the jobs of this run what explains their result, and would be lost with their logs: what an agent said that changed
 * nothing, what its branch lacks, and that it began a new session.
 *
 * @param logs - by the jobs' ids
 * @param keepsSessions - whether the run could keep sessions in the Actions cache. Otherwise each one is new, which the start of
 *   the step has said
 */
export function reportAgents(
  runner: Pick<Runner, "annotate">,
  logs: ReadonlyMap<string, string>,
  keepsSessions: boolean,
): void {
  const notes = [...logs].map(([id, log]) => ({
    id,
    lines: log.split("\n").filter((line) => line.startsWith(prefix)),
  }));
  const texts = notes.map(({ id, lines }) => ({ id, texts: lines.map((line) => line.slice(prefix.length)) }));
  annotate(
    runner,
    "The agent changed nothing",
    texts.flatMap(({ texts: all }) => {
      const words = wordsIn(all);
      return words === undefined ? [] : [say`Its last words: ${words}`];
    }),
  );
  annotate(
    runner,
    "The change was there already",
    texts.flatMap(({ texts: all }) =>
      all.filter((text) => text.startsWith(changedAlreadyNote)).map((text) => say`${text}`),
    ),
  );
  const behind = texts.flatMap(({ texts: all }) => all.filter((text) => text.startsWith(behindNote)));
  annotate(
    runner,
    "The base could not be merged",
    behind.map((text) => say`${text.slice(behindNote.length).trim()}`),
  );
  if (!keepsSessions) return;
  const begun = texts.filter(({ texts: all }) => all.some((text) => text.startsWith(newSessionNote)));
  annotate(
    runner,
    "The agent began a new session",
    begun.map(
      ({ id }) =>
        say`The session of the earlier turns of ${id} is gone, so the agent knows only what its prompt tells of them.`,
    ),
  );
}

function annotate(runner: Pick<Runner, "annotate">, title: string, texts: readonly Text[]): void {
  if (texts.length > 0) runner.annotate("notice", title, forAnnotation(join(texts, "\n")));
}

/** Returns the message of the agent of a job's last turn, if it changed nothing. */
function wordsIn(texts: readonly string[]): string | undefined {
  const start = texts.findLastIndex((text) => text.startsWith(noChangeNote));
  const laterTurn = texts.findIndex((text, index) => index > start && isStartNote(text));
  if (start < 0 || laterTurn >= 0) return undefined;
  return (
    texts
      .slice(start + 1)
      .join("\n")
      .trim() || undefined
  );
}
