import type { ProjectCommands, TurnPorts } from "../../src/turns/turn-ports.ts";
import type { MemoryRepository } from "./memory-repository.ts";

/** Returns the worktrees of a repository in memory, which nobody has to take back. */
export const memoryWorktrees = (
  repository: Pick<MemoryRepository, "checkOut">,
): TurnPorts["worktrees"] & ProjectCommands["worktrees"] => ({
  checkOut: (place, start) => repository.checkOut(start, place),
  takeBack: async () => {},
  release: async () => {},
  lend: async () => {},
});
