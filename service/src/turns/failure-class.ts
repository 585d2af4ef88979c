import { ChangeRefused } from "../git/commit-worktree.ts";
import type { FailureClass } from "../model.ts";
import { SetupFailed } from "./project-commands.ts";
import { HostRefused } from "./refusal.ts";
import { ConflictError } from "./stages/push.ts";

/** Returns of what kind the failure is that an error is for its turn. One that nobody foresaw may pass. */
export function classOfError(error: unknown): FailureClass {
  if (error instanceof HostRefused) return "refused";
  if (error instanceof SetupFailed) return "setting";
  return error instanceof ChangeRefused || error instanceof ConflictError ? "agent" : "transient";
}
