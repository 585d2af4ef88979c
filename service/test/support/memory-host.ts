import type { TurnHost } from "../../src/turns/turn-host.ts";

/** A host without a disk, whose agents do nothing. */
export const memoryHost: TurnHost = {
  prepare: async () => true,
  clean: async () => {},
  appendLog: () => {},
  runAgent: async () => ({ end: "completed", message: undefined, error: undefined }),
  findSessions: async () => [],
  lastOutput: async () => "",
  hideSecrets: async () => {},
  replaceHome: async () => ({ drop: async () => {}, [Symbol.asyncDispose]: async () => {} }),
  hasOwnCommits: async () => false,
  mayHaveLeftWork: async () => false,
};
