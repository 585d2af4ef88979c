import { expect, test } from "vitest";
import type { EarlierAttempt, Word } from "../../../../src/action/memory/decide.ts";
import { gather, type Replies, type ThreadWords } from "../../../../src/action/memory/evidence.ts";
import type { SessionMemory } from "../../../../src/action/memory/session.ts";
import type { Run } from "../../../../src/action/run.ts";

/* What the memories say together: words in the cache, the reply in the thread, and the session. */

const nothing: Word = { kind: "nothing sent" };
const about: Word = { kind: "about to send" };
const job = (jobId: string): Word => ({ kind: "job", jobId, sent: "create" });
const cached = { none: undefined, unreadable: "unreadable", nothing, about, job: job("cached") } as const;
const reply = (word: Word, attempt = 2): ThreadWords => ({ kind: "reply", attempt, word });
const threads = {
  "no thread": undefined,
  unreadable: { kind: "unreadable" },
  "no reply, and proof": { kind: "none", silence: "proof" },
  "no reply, and doubt": { kind: "none", silence: "doubt" },
  "no reply": { kind: "none", silence: "open" },
  "reply: nothing": reply(nothing),
  "reply: about": reply(about),
  "reply: job": reply(job("replied")),
} as const satisfies Record<string, ThreadWords | undefined>;

async function gathered(
  word: EarlierAttempt["word"],
  thread: ThreadWords | undefined,
  { session, agent, mode = "write" }: { session?: Partial<SessionMemory>; agent?: string; mode?: string } = {},
) {
  const attempts = [3, 2, 1].map((attempt) => ({ attempt, word: attempt === 2 ? word : undefined }));
  const replies: Replies = {
    words: { attempts, base: undefined, covers: undefined, hadAnnounced: undefined, error: undefined },
    answer: { kind: "mute" },
    service: "mute",
  };
  const environment = { GITHUB_RUN_ATTEMPT: "4", ACTIONS_CACHE_URL: "http://localhost", ACTIONS_CACHE_MODE: mode };
  const run = { settings: { agent }, ports: { environment, signal: new AbortController().signal } } as unknown as Run;
  return gather(replies, session as SessionMemory | undefined, thread && (async () => thread), run);
}

const shown = ({ word }: EarlierAttempt): string =>
  typeof word === "object" ? (word.kind === "job" ? word.jobId : word.kind.replace(/ .*/, "")) : (word ?? "-");

/** The attempts 3, 2 and 1, of which the cache has a word of the second one. */
const rows: [keyof typeof cached, Record<keyof typeof threads, string>][] = [
  [
    "none",
    {
      "no thread": "- - -",
      unreadable: "unreadable unreadable unreadable",
      "no reply, and proof": "nothing nothing nothing",
      "no reply, and doubt": "- - -",
      "no reply": "- - -",
      "reply: nothing": "nothing nothing",
      "reply: about": "nothing about",
      "reply: job": "nothing replied",
    },
  ],
  [
    "unreadable",
    {
      "no thread": "- unreadable -",
      unreadable: "unreadable unreadable unreadable",
      "no reply, and proof": "nothing nothing nothing",
      "no reply, and doubt": "- unreadable -",
      "no reply": "- unreadable -",
      "reply: nothing": "nothing nothing",
      "reply: about": "nothing about",
      "reply: job": "nothing replied",
    },
  ],
  [
    "nothing",
    {
      "no thread": "- nothing -",
      unreadable: "unreadable nothing unreadable",
      "no reply, and proof": "nothing nothing nothing",
      "no reply, and doubt": "- nothing -",
      "no reply": "- nothing -",
      "reply: nothing": "nothing nothing",
      // Of the attempts before it, the reply says more.
      "reply: about": "nothing about",
      "reply: job": "nothing replied",
    },
  ],
  [
    "about",
    {
      "no thread": "- about -",
      unreadable: "unreadable about unreadable",
      // Its reaction was refused, and it went on.
      "no reply, and proof": "nothing about nothing",
      "no reply, and doubt": "- about -",
      "no reply": "- about -",
      "reply: nothing": "nothing nothing",
      "reply: about": "nothing about",
      "reply: job": "nothing replied",
    },
  ],
  [
    "job",
    {
      "no thread": "- cached -",
      unreadable: "unreadable cached unreadable",
      "no reply, and proof": "nothing cached nothing",
      "no reply, and doubt": "- cached -",
      "no reply": "- cached -",
      "reply: nothing": "nothing cached",
      "reply: about": "nothing cached",
      "reply: job": "nothing cached",
    },
  ],
];

test.each(rows)("the cache has %s of the second attempt", async (word, expected) => {
  const found: Record<string, string> = {};
  for (const [name, thread] of Object.entries(threads))
    found[name] = (await gathered(cached[word], thread)).attempts.map(shown).join(" ");
  expect(found).toEqual(expected);
});

test("an attempt keeps its words, unless the cache can only be read, or none could leave anything in the thread", async () => {
  const keeps = async (mode: string, thread: keyof typeof threads) =>
    (await gathered(undefined, threads[thread], { mode })).keepsWords;
  for (const thread of Object.keys(threads) as (keyof typeof threads)[]) {
    expect([thread, await keeps("write", thread)]).toEqual([thread, thread !== "no reply, and doubt"]);
    for (const mode of ["read", "none"]) expect([thread, await keeps(mode, thread)]).toEqual([thread, false]);
  }
});

test.each([
  ["its own entry names the job of the attempt that saved it", true, undefined, "session - -"],
  ["a word of that attempt is weaker", true, about, "session about -"],
  ["the entry of another step says nothing of it", false, about, "- about -"],
])("of a session, %s", async (_, isOwn, word, expected) => {
  const entry = { jobId: "session", attempt: 3, kind: "create", run: "1", step: "", failures: 0, pullRequests: [] };
  const session = {
    find: async () => ({ entry }) as never,
    isOwn: () => isOwn,
    laterRun: () => ({ run: "9", jobId: "job_9" }),
  };
  const { attempts, laterRun } = await gathered(word, undefined, { session });
  expect(attempts.map(shown).join(" ")).toBe(expected);
  expect(laterRun).toEqual({ run: "9", jobId: "job_9" });
});

test("beside an own agent, whose service knows all of them, no word counts", async () => {
  const { attempts, hadAnnounced } = await gathered(job("cached"), reply(job("replied")), { agent: "editor" });
  expect([attempts.map(shown), hadAnnounced]).toEqual([["-", "-", "-"], true]);
});
