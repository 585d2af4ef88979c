import type { Log } from "../log/log.ts";
import type { PerProject } from "../per-project.ts";
import type { JobCopier } from "../store/job-copier.ts";
import type { TurnPorts } from "./turn-ports.ts";

/** What the turns of a project depend on. */
export interface ProjectPorts
  extends Pick<
    TurnPorts,
    | "repository"
    | "worktrees"
    | "pullRequests"
    | "targetBranch"
    | "committers"
    | "agent"
    | "sandbox"
    | "network"
    | "limits"
    | "timeLimitMs"
    | "largestChangeBytes"
    | "protectedFiles"
    | "moreProtected"
    | "only"
    | "commands"
  > {
  /** How many turns of the project run at a time, over all workers. Default: any number. */
  agentsPerProject?: number | undefined;
}

export interface WorkerOptions
  extends Omit<TurnPorts, keyof ProjectPorts | "stop" | "onFailure" | "onAgentEnd" | "onChecked"> {
  /** Turns of other projects are left to workers that know these. */
  projects: PerProject<ProjectPorts>;
  /** Returns those whose turns may be taken now; `undefined` if that is all. Default: all. */
  ownProjects?: (() => Promise<readonly string[] | undefined>) | undefined;
  /** How many agents run at a time. */
  agents: number;
  /** Stops the running agents. Their turns are requeued. */
  signal: AbortSignal;
  /** Default: jobs are only in the store. */
  copier?: JobCopier | undefined;
  log: Log;
}
