import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import {
  type Decision,
  decide,
  decideWith,
  type EarlierAttempt,
  type Evidence,
  type StepRecord,
  type Word,
} from "../../../../src/action/memory/decide.ts";
import { withoutJob } from "../../../../src/action/memory/evidence.ts";
import { root } from "../../../support/metadata.ts";

const turn = (over?: "failed", kept?: "kept" | "unfinished") => ({
  jobId: "job_turn",
  turnId: "turn_1",
  request: "request_1",
  over,
  hasOtherPrompt: false,
  isKept: kept === "kept",
  isUnfinished: kept === "unfinished",
});
const job = (jobId: string, hasOtherPrompt = false): Word => ({ kind: "job", jobId, sent: "create", hasOtherPrompt });
const message = (jobId: string): Word => ({ kind: "job", jobId, sent: "message" });
const aboutTo: Word = { kind: "about to send" };
const nothingSent: Word = { kind: "nothing sent" };

const services: Record<string, Partial<Evidence>> = {
  "cannot be asked": { service: "mute" },
  "does not answer": { service: "unreadable" },
  "does not answer, and announced itself before": { service: "unreadable", hadAnnounced: true },
  "got nothing": { service: "nothing" },
  "has a turn that runs": { service: turn() },
  "has a turn that failed": { service: turn("failed") },
  "has a turn whose work is kept": { service: turn("failed", "kept") },
  "has a turn whose work is unfinished": { service: turn("failed", "unfinished") },
  "has a turn with another prompt": { service: { ...turn(), hasOtherPrompt: true } },
  "has a turn with another prompt, whose work is kept": {
    service: { ...turn("failed", "kept"), hasOtherPrompt: true },
  },
  "has several other prompts": { service: { several: ["job_a", "job_b"] } },
};
/** The words of attempt 1 or 2; jobs are named after it. */
const words: Record<string, (attempt: number) => EarlierAttempt["word"]> = {
  none: () => undefined,
  unreadable: () => "unreadable",
  "nothing sent": () => nothingSent,
  "about to send": () => aboutTo,
  "about to send, other prompt": () => ({ kind: "about to send", hasOtherPrompt: true }),
  "job of use": (attempt) => job(`job_${attempt}`),
  "message to a job": (attempt) => message(`messaged_${attempt}`),
  "job of no use": (attempt) => job(`over_${attempt}`),
  "job, other prompt": (attempt) => job(`other_${attempt}`, true),
};
const records: StepRecord[] = ["not started", "unknown", { ran: 2 }];
const over = new Set(["over_1", "over_2"]);
const flags = [false, true];

interface Cell {
  service: string;
  newer: string;
  older: string;
  evidence: Evidence;
}

const cells: Cell[] = Object.entries(services).flatMap(([service, asked]) =>
  Object.entries(words).flatMap(([newer, second]) =>
    Object.entries(words).flatMap(([older, first]) =>
      records.flatMap((record) =>
        flags.flatMap((keepsWords) =>
          [undefined, { run: "9", jobId: "job_2" }].map((laterRun) => {
            const attempts = [
              { attempt: 2, word: second(2) },
              { attempt: 1, word: first(1) },
            ];
            const others = { attempts, record, over, keepsWords, laterRun };
            const evidence: Evidence = { service: "mute", hadAnnounced: false, ...others, ...asked };
            return { service, newer, older, evidence };
          }),
        ),
      ),
    ),
  ),
);

const nameOf = (decision: Decision): string => {
  if (decision.do === "refuse") return `refuse: ${decision.cause}`;
  if (decision.do === "wait") return `wait for ${decision.jobId}`;
  return decision.to === undefined ? "send" : `send to ${decision.to}`;
};

/** Returns the words that still count: those after the newest job that is of no use. */
function counting({ attempts }: Evidence): EarlierAttempt[] {
  const index = attempts.findIndex(
    ({ word }) => typeof word === "object" && word.kind === "job" && over.has(word.jobId),
  );
  return index === -1 ? [...attempts] : attempts.slice(0, index);
}

const isAnswered = ({ service }: Evidence): boolean => service === "nothing" || typeof service === "object";
const isMessage = (word: EarlierAttempt["word"]): boolean =>
  typeof word === "object" && word.kind === "job" && word.sent === "message";
const isOfOthers = (word: EarlierAttempt["word"]): boolean =>
  typeof word === "object" && "hasOtherPrompt" in word && word.hasOtherPrompt === true;
const kindOf = (word: EarlierAttempt["word"]): string => (typeof word === "object" ? word.kind : String(word));

test(`in ${cells.length.toLocaleString("en-US")} cells, nothing is sent that an earlier attempt may have sent`, () => {
  const table = new Map<string, Set<string>>();
  for (const { service, newer, older, evidence } of cells) {
    const decision = decide(evidence);
    const row = `${service} | ${newer}`;
    table.set(row, (table.get(row) ?? new Set()).add(nameOf(decision)));
    if (decision.do !== "send") continue;
    const where = JSON.stringify({ service, newer, older, evidence });
    const left = counting(evidence).filter(({ word }) => kindOf(word) !== "nothing sent");
    for (const { word } of left) {
      // GitHub says that another call of the workflow sent it.
      if (evidence.record === "not started" && isOfOthers(word)) continue;
      // A job that somebody has named is waited for. Of a message, the service that has answered knows.
      if (!isAnswered(evidence) || !isMessage(word)) expect(kindOf(word), where).not.toBe("job");
      // What is sent has the key that the service would know it by.
      if (isAnswered(evidence)) continue;
      // The record may say that a silent attempt did not start.
      expect(typeof evidence.record, where).toBe("string");
      if (word !== undefined) expect(isAnswered(evidence), where).toBe(true);
      if (evidence.record === "unknown") expect(evidence.keepsWords, where).toBe(true);
    }
  }
  console.log(
    ["the service | the newer attempt left | the answers, by what the older one left and what GitHub says"]
      .concat([...table].map(([row, names]) => `${row} | ${[...names].sort().join(", ")}`))
      .join("\n"),
  );
});

test("what is waited for is the service's turn, or the newest job that counts", () => {
  for (const { evidence } of cells) {
    const decision = decide(evidence);
    if (decision.do !== "wait") continue;
    if ("turnId" in decision) expect(evidence.service).toMatchObject({ over: undefined, hasOtherPrompt: false });
    else {
      const [newest] = counting(evidence).filter(
        ({ word }) => kindOf(word) === "job" && !(isAnswered(evidence) && isMessage(word)) && !isOfOthers(word),
      );
      expect(newest?.word).toMatchObject({ jobId: decision.jobId });
      expect(newest?.word).not.toMatchObject({ hasOtherPrompt: true });
      expect(evidence.laterRun?.jobId).not.toBe(decision.jobId);
    }
  }
});

test("the more is known to have run, the less is sent", () => {
  const caution = { send: 0, wait: 1, refuse: 2 };
  for (const { evidence } of cells) {
    const [first, unknown, ran] = records.map((record) => caution[decide({ ...evidence, record }).do]);
    expect(unknown).toBeGreaterThanOrEqual(first ?? 0);
    expect(ran).toBeGreaterThanOrEqual(unknown ?? 0);
    const forgetful = decide({ ...evidence, keepsWords: false });
    expect(caution[forgetful.do]).toBeGreaterThanOrEqual(caution[decide({ ...evidence, keepsWords: true }).do]);
  }
});

test("GitHub is asked only if the answer depends on it, about the attempts without a word for this prompt", async () => {
  for (const { evidence } of cells.filter(({ evidence }) => evidence.record === "unknown")) {
    const asked: (readonly number[])[] = [];
    const { decision } = await decideWith(evidence, async (attempts) => {
      asked.push(attempts);
      return "not started";
    });
    const answers = new Set(records.map((record) => JSON.stringify(decide({ ...evidence, record }))));
    expect(asked.length).toBe(answers.size > 1 ? 1 : 0);
    for (const attempt of asked.flat()) {
      const { word } = evidence.attempts.find((one) => one.attempt === attempt) ?? {};
      if (!isOfOthers(word) && typeof evidence.service === "string")
        expect(["undefined", "unreadable"]).toContain(kindOf(word));
    }
    expect(decision).toEqual(decide({ ...evidence, record: asked.length > 0 ? "not started" : "unknown" }));
  }
});

/** What people read: the newest attempt that left a word counts, and silence of a newer one outranks it. */
const rows: [known: string, Partial<Evidence>][] = [
  ["a service of your own has the turn of an earlier attempt", { service: turn() }],
  ["… and that turn failed or was stopped", { service: turn("failed") }],
  ["… and that turn failed, and its work is kept", { service: turn("failed", "kept") }],
  ["… turns, none with this prompt", { service: { several: ["job_a"] } }],
  [
    "… nothing, whatever attempt 1 left but a job that it created",
    { service: "nothing", attempts: [{ attempt: 1, word: message("job_1") }] },
  ],
  ["… and it does not answer, and no attempt left a word", { service: "unreadable" }],
  ["the newest word names a job", { attempts: [{ attempt: 1, word: job("job_1") }] }],
  [
    "… which is gone; or failed or was archived, not seen to complete",
    { attempts: [{ attempt: 1, word: job("over_1") }] },
  ],
  ["… for another prompt", { attempts: [{ attempt: 1, word: job("job_1", true) }] }],
  [
    "… or the turns are for other prompts, and GitHub says that this step never started",
    { attempts: [{ attempt: 1, word: job("job_1", true) }], record: "not started" },
  ],
  [
    "… to which a later run of the session or thread sent its prompt since",
    { attempts: [{ attempt: 1, word: job("job_1") }], laterRun: { run: "9", jobId: "job_1" } },
  ],
  [
    "… and a newer attempt without a word ran, as GitHub says",
    {
      attempts: [
        { attempt: 2, word: undefined },
        { attempt: 1, word: job("job_1") },
      ],
      record: { ran: 2 },
    },
  ],
  [
    "… the same, and the job failed, was archived or is gone",
    {
      attempts: [
        { attempt: 2, word: undefined },
        { attempt: 1, word: job("over_1") },
      ],
      record: { ran: 2 },
    },
  ],
  ["it says that a request was about to be sent", { attempts: [{ attempt: 1, word: aboutTo }] }],
  ["it says that nothing was sent", { attempts: [{ attempt: 1, word: nothingSent }] }],
  ["it cannot be read", { attempts: [{ attempt: 1, word: "unreadable" }] }],
  ["there is no word, and GitHub says that the step was skipped or never started", { record: "not started" }],
  ["… that it ran", { record: { ran: 1 } }],
  ["… nothing, and a word would have been kept", {}],
  ["… nothing, and the cache can only be read, or the reply is gone", { keepsWords: false }],
];

/** Says what a decision means for people. */
function meaning(decision: Decision): string {
  if (decision.do === "refuse") return "fails, and sends nothing";
  if (decision.do === "send" && decision.publishes) return "sends the request to its job, which publishes the work";
  if (decision.do === "send") return decision.replaces ? "sends the request again, in its place" : "sends the request";
  return "besides" in decision
    ? "waits for the job, and warns of the newer attempt"
    : "waits for it, and sends nothing";
}

test("the page about the memory shows the table, which is made from the decision", () => {
  expect(rows.length).toBeLessThanOrEqual(20);
  const lines = rows.map(([known, evidence]) => {
    const attempts = [{ attempt: 1, word: undefined }];
    const none = { record: "unknown", keepsWords: true, hadAnnounced: false } as const;
    const decision = decide({ service: "mute", attempts, over, ...none, ...evidence });
    return `| ${known} | ${meaning(decision)} |`;
  });
  const table = ["| what is known | what the re-run does |", "| --- | --- |", ...lines].join("\n");
  console.log(table);
  expect(readFileSync(resolve(root, "docs/memory.md"), "utf8")).toContain(table);
});

test.each([
  ["failed", "kept", { to: "job_turn", publishes: true }],
  ["failed", "unfinished", { to: "job_turn" }],
  ["failed", undefined, {}],
  // Somebody did not want it, or its job, any more.
  ...(["stopped", "archived", "ignored"] as const).flatMap((over) =>
    (["kept", "unfinished", undefined] as const).map((kept) => [over, kept, {}] as const),
  ),
] as const)("in place of a turn that was %s, whose work is %s, it is sent to %j", (over, kept, to) => {
  const service = { ...turn("failed", kept), over };
  const others = { attempts: [], record: "unknown", over: new Set<string>(), keepsWords: true } as const;
  const decision = decide({ service, hadAnnounced: true, ...others });
  expect(decision).toEqual({ do: "send", replaces: "request_1", ...to });
});

test("a remembered job that is of no use does not hide that the work of a turn is kept", () => {
  const service = turn("failed", "kept");
  const evidence = {
    service,
    hadAnnounced: true,
    attempts: [],
    record: "unknown",
    over: new Set<string>(),
    keepsWords: true,
  } as const;
  expect(decide(withoutJob(evidence, "job_1"))).toEqual({
    do: "send",
    to: "job_turn",
    publishes: true,
    replaces: "request_1",
  });
});
