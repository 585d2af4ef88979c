import { messageOf } from "../../client/errors.ts";
import { type Cache, cacheAccess } from "../../runner-kit/cache.ts";
import { hash } from "../hash.ts";
import type { Run, RunPorts } from "../run.ts";
import { runAttempt } from "../runner/environment.ts";
import type { SendingTask } from "../settings.ts";
import { stepOfRun } from "../step-key.ts";
import type { EarlierAttempt, Word } from "./decide.ts";
import type { WordEntry } from "./parse-entry.ts";
import { untilSettled } from "./wait.ts";

/** In ascending strength: a later one outranks those before it, in any order of arrival. */
const states = ["pending", "not-sent", "job"] as const;
type State = (typeof states)[number];
const stateOf = { "about to send": "pending", "nothing sent": "not-sent", job: "job" } as const;

/** Returns the strength of a word among those of one attempt, the strongest of which counts; 0 for none. */
export function strengthOf(word: Word | "unreadable" | undefined): number {
  return word === undefined || word === "unreadable" ? 0 : 1 + states.indexOf(stateOf[word.kind]);
}

export interface ReadWords {
  /** Newest first, up to the first that names a job for this prompt. */
  attempts: EarlierAttempt[];
  /** The start of an attempt's range of changes. */
  base: string | undefined;
  /** The commit up to which its session is told of all changes if its turn completes. */
  covers: string | undefined;
  /** Whether the service had announced that it can be asked; `undefined` if no entry says so. */
  hadAnnounced: boolean | undefined;
  /** Why some cannot be read. */
  error: string | undefined;
}

export type CachedWords = ReturnType<typeof cachedWords>;

/** Returns the words of a step's attempts in the cache. Each state has its own key, because entries arrive in any order. */
export function cachedWords(cache: Cache, task: Pick<SendingTask, "kind" | "prompt">, run: Run) {
  const { environment } = run.ports;
  const own = runAttempt(environment);
  const keyOf = (attempt: number, state: State): string => `agent-job-${run.key.step}-${attempt}-${state}-`;
  /** The part of the keys after the state, for entries with this prompt. */
  const ownPrompt = hash(JSON.stringify([task.kind, task.prompt]));
  let saves = 0;

  const wordOf = async (attempt: number): Promise<{ word?: Word; entry?: WordEntry }> => {
    for (const prompt of [ownPrompt, ""]) {
      const hasOtherPrompt = prompt === "";
      const texts = await Promise.all(states.map((state) => cache.restore(keyOf(attempt, state) + prompt)));
      const index = texts.findLastIndex((text) => text !== undefined);
      const state = states[index];
      if (state === undefined) continue;
      // Loaded here, because only re-runs read entries.
      const { parseWordEntry } = await import("./parse-entry.ts");
      const entry = parseWordEntry(texts[index] ?? "");
      const { jobId, sent, base: _, covers: __, announced: ___, ...known } = entry ?? {};
      if (entry && state === "not-sent") return { word: { kind: "nothing sent", hasOtherPrompt }, entry };
      if (entry && state === "pending") return { word: { kind: "about to send", hasOtherPrompt }, entry };
      if (entry && jobId !== undefined && sent)
        return { word: { kind: "job", jobId, sent, ...known, hasOtherPrompt }, entry };
      throw new Error("the entry is not usable");
    }
    return {};
  };

  return {
    /** Reads the words of earlier attempts. Never rejects. */
    read: async (): Promise<ReadWords> => {
      const read: ReadWords = {
        attempts: [],
        base: undefined,
        covers: undefined,
        hadAnnounced: undefined,
        error: undefined,
      };
      let attempt = own - 1;
      try {
        const isEmpty = (await cache.restore(`agent-job-${run.key.step}-`)) === undefined;
        for (; attempt >= 1; attempt--) {
          const { word, entry } = isEmpty ? {} : await wordOf(attempt);
          if (read.hadAnnounced !== true) read.hadAnnounced = entry?.announced ?? read.hadAnnounced;
          const isOthers = typeof word === "object" && "hasOtherPrompt" in word && word.hasOtherPrompt;
          if (!isOthers) read.base ??= entry?.base;
          if (!isOthers) read.covers ??= entry?.covers;
          const inputsPrefix = invalidInputsPrefix(run.settings.matrixLeg, environment, attempt);
          const hadInvalidInputs = !word && (await cache.restore(inputsPrefix)) !== undefined;
          read.attempts.push({ attempt, word: hadInvalidInputs ? { kind: "nothing sent" } : word });
          if (word?.kind === "job" && !isOthers) return read;
        }
      } catch (error) {
        read.error = messageOf(error);
        for (; attempt >= 1; attempt--) read.attempts.push({ attempt, word: "unreadable" });
      }
      return read;
    },
    /** @throws if the word of this attempt cannot be saved */
    save: async (word: Word, facts: Pick<WordEntry, "base" | "covers" | "announced">): Promise<void> => {
      const { kind, ...job } = word;
      // A key can be used only once, even if its save failed.
      const key = `${keyOf(own, stateOf[word.kind])}${ownPrompt}-${++saves}`;
      await cache.save(key, JSON.stringify({ version: 1, ...job, ...facts }));
    },
  };
}

/** Returns the key prefix that records invalid inputs of an attempt. */
function invalidInputsPrefix(matrixLeg: string, environment: NodeJS.ProcessEnv, attempt: number): string {
  return `agent-job-inputs-${stepOfRun(matrixLeg, environment)}-${attempt}-`;
}

/** Records that invalid inputs kept this attempt from sending. Never rejects; without the record, GitHub is asked. */
export async function rememberInvalidInputs(matrixLeg: string, ports: RunPorts): Promise<void> {
  const { environment, connectCache, signal } = ports;
  if (cacheAccess(environment) !== "write" || signal.aborted) return;
  const key = `${invalidInputsPrefix(matrixLeg, environment, runAttempt(environment))}1`;
  const save = async (): Promise<void> => (await connectCache()).save(key, JSON.stringify({ version: 1 }));
  await untilSettled(
    save().catch(() => {}),
    ports,
  );
}
