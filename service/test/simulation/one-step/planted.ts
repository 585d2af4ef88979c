import type { PlantedFault } from "../planted.ts";

const remembered = "step/memory/remembered-jobs.ts";

/** Mistakes in the sources, each of which the simulation of the action with its own agent has to find. */
export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "nothing is looked for that earlier attempts have sent",
    edits: [{ file: remembered, from: "if (isFirstAttempt) return [];", to: "if (isFirstAttempt || sent) return [];" }],
  },
  {
    name: "another run of the session is not waited for",
    edits: [
      {
        file: remembered,
        from: "const busy = await kept.busyJobOf?.(session, this.#asked, claimedBy);",
        to: "const busy = kept && undefined;",
      },
    ],
  },
  {
    name: "a session is free while its turn is checked",
    edits: [
      {
        file: "step/memory/kept-on-refs.ts",
        from: 'stage === "made" && one.stage === "begun" && this.#own.has(one.name)',
        to: "one === undefined",
      },
    ],
  },
  {
    name: "a cache is not used where refs are refused",
    edits: [{ file: remembered, from: "await cached.keptCommits.save(turn, packed);", to: "throw error;" }],
  },
  {
    name: "a closed pull request is continued",
    edits: [
      {
        file: "../src/action/memory/session.ts",
        from: 'if (state === "merged" || state === "closed") {',
        to: 'if (state === "merged") {',
      },
    ],
  },
  {
    name: "a job that GitHub cannot tell of has no work there",
    edits: [
      {
        file: remembered,
        from: 'if (found.status === "rejected") throw found.reason;',
        to: 'if (found.status === "rejected") return kept.status === "fulfilled" ? kept.value : undefined;',
      },
    ],
  },
  {
    name: "what was restored of a step runs beside the request that took its place",
    edits: [
      {
        file: "src/jobs/jobs.ts",
        from: "if (sent?.promptHash === promptHash && !isLeft) await",
        to: "if (sent === undefined) await",
      },
    ],
  },
  {
    name: "a re-run that published kept work, and was lost then, runs an agent",
    edits: [
      {
        file: "step/memory/merge-copies.ts",
        from: "turn.reason === lostReason || passesOn ? fulfilled(turn, rows, copies) : undefined",
        to: "turn.reason === lostReason || passesOn ? undefined : undefined",
      },
    ],
  },
  {
    name: "both jobs of a request that was sent twice run an agent",
    edits: [
      {
        file: "src/store/jobs.ts",
        from: "const isSecond = turn.endedAt === null",
        to: "const isSecond = turn.endedAt === undefined",
      },
    ],
  },
  {
    name: "a request is not found that took the place of a forgotten one",
    edits: [{ file: "../src/action/step-key.ts", from: "count < maxReplaced", to: "count < 1" }],
  },
];
