/** A mistake in the sources, which the simulation has to find. */
export interface PlantedFault {
  name: string;
  /** The texts that are replaced, each found once in a file of `service`. */
  edits: readonly { file: string; from: string; to: string }[];
}

const queue = "src/store/ready-turns.ts";
const glue = "test/simulation/leased-turns.ts";
const takeUp = "src/turns/take-up.ts";
const push = "src/turns/stages/push.ts";
const trial = "src/turns/trial-branch.ts";
const uncounted = "src/turns/uncounted-commits.ts";
const runningTurns = "src/store/running-turns.ts";

/** Those that need few histories to be found come first. */
export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "no fencing in the store",
    edits: [{ file: queue, from: "NULL WHERE id = ? AND lease = ?", to: "NULL WHERE id = ? AND ? IS NOT NULL" }],
  },
  {
    name: "an unconditional finish",
    edits: [
      {
        file: runningTurns,
        from: "await ready.hold(transaction, turn).catch(",
        to: "await Promise.resolve(turn).catch(",
      },
    ],
  },
  {
    name: "no check of the owner before a push, which is forced",
    edits: [
      { file: runningTurns, from: "if (!(await this.renewLease(turn))) throw", to: "if (!turn) throw" },
      { file: "test/simulation/remote.ts", from: "if (!isAllowed) throw", to: "if (!isAllowed && !branch) throw" },
    ],
  },
  {
    name: "each worker requeues everything when it starts",
    edits: [
      { file: queue, from: "if (this.#leaseMs !== undefined) return [];", to: "if (this.#leaseMs === 0) return [];" },
    ],
  },
  {
    name: "a take that is not atomic",
    edits: [
      { file: queue, from: 'WHERE id = ? AND "readyAt" IS NOT NULL AND state IN', to: "WHERE id = ? AND state IN" },
      {
        file: queue,
        from: "const next = await this.#queue.fetch(transaction, closed);",
        to: `const next = this.candidate ?? (await this.#queue.fetch(transaction, closed));
        this.candidate = this.candidate ? undefined : next;`,
      },
    ],
  },
  {
    name: "a turn whose agent has run does not wait for the store",
    edits: [{ file: "src/turns/keep-lease.ts", from: "if (!isStoreOutage(error)) throw error;", to: "throw error;" }],
  },
  {
    name: "the end of a turn does not store again what the database may have lost",
    edits: [
      {
        file: runningTurns,
        from: "await store(transaction, turn, said);\n      if (said?.ends",
        to: "if (said?.ends",
      },
    ],
  },
  {
    name: "what is kept is not published",
    edits: [
      {
        file: takeUp,
        from: "const kept = isPublished ? undefined : findKeptTurn(turn, context.turns);",
        to: "const kept = findKeptTurn && undefined;",
      },
    ],
  },
  {
    name: "the end of a turn forgets what is kept",
    edits: [
      {
        file: runningTurns,
        from: "reason, reason, failureClass, kept, id);",
        to: "reason, reason, failureClass, null, id);",
      },
    ],
  },
  {
    name: "an agent runs again for the prompt of what is kept",
    edits: [
      {
        file: "src/turns/standing.ts",
        from: "one.promptHash === other.promptHash &&",
        to: "one.promptHash !== other.promptHash &&",
      },
    ],
  },
  {
    name: "a branch that was only tried is left",
    edits: [{ file: trial, from: "remoteHead !== undefined && remoteHead === tried", to: "remoteHead === branch" }],
  },
  {
    name: "a commit whose push was refused is not stored for other machines",
    edits: [{ file: "src/turns/kept-commits.ts", from: "await keptCommits.save(turn, await", to: "void (await" }],
  },
  {
    name: "no polling",
    edits: [
      { file: glue, from: "changes.turnReady();\n      if (expires)", to: "if (expires)" },
      { file: glue, from: "hasExpired && changes.turnReady()", to: "hasExpired" },
    ],
  },
  {
    name: "a worker that has lost its turn leaves its push on the branch",
    edits: [{ file: trial, from: "return await undoPush(pushed,", to: "return void undoPush.bind(pushed," }],
  },
  {
    name: "a worker that has lost its turn removes its push although it is recorded",
    edits: [
      { file: uncounted, from: "? before : recorded;", to: "? before : before;" },
      { file: uncounted, from: "if (recorded !== commit && counted", to: "if (counted" },
      { file: "src/turns/stages/publish.ts", from: 'work.pushed &&= "recorded";', to: "" },
    ],
  },
  {
    name: "a run of an agent does not count if its turn waits again",
    edits: [{ file: runningTurns, from: "isCounted ? attempts : turn.attempts", to: "turn.attempts" }],
  },
  {
    name: "every commit on a branch counts",
    edits: [
      {
        file: uncounted,
        from: "if (head === job.head) return all;",
        to: "if (head !== undefined) return all;",
      },
    ],
  },
  {
    name: "branches of ended jobs are not cleaned",
    edits: [
      {
        file: "src/upkeep/branch-cleaner.ts",
        from: "if (head === undefined || head === job.head) return;",
        to: "if (head !== job.id) return;",
      },
    ],
  },
  {
    name: "a turn that is taken over continues with the very commit that was pushed",
    edits: [
      {
        file: takeUp,
        from: "if (recorded === undefined && own.commit === remoteHead) {",
        to: "if (recorded === undefined && own.commit !== remoteHead) {",
      },
    ],
  },
  {
    name: "a worker that has lost its turn writes the page of the pull request",
    edits: [
      {
        file: "src/store/pull-requests.ts",
        from: "!== undefined) throw new LeaseLost(job);",
        to: "!== undefined) LeaseLost;",
      },
    ],
  },
  {
    name: "what an agent did is not looked for in the store",
    edits: [
      {
        file: takeUp,
        from: "[onBranch, inClone, inStore]",
        to: "[onBranch, inClone]",
      },
    ],
  },
  {
    name: "a turn ends without cleaning its branch after an earlier attempt",
    edits: [
      {
        file: trial,
        from: "else await removeUncounted({ ...start, remoteHead }, context, turn);",
        to: "else await removeUncounted.name;",
      },
    ],
  },
  {
    name: "the owner of a turn is not asked before a push",
    edits: [{ file: push, from: "await confirmOwner();\n  work.pushed =", to: "work.pushed =" }],
  },
  {
    name: "commits are matched by the id of the turn alone",
    edits: [
      {
        file: "src/pulls/turn-trailers.ts",
        from: "turn.identity}`,",
        to: 'turn.identity.replace(/./g, "0")}`,',
      },
    ],
  },
];
