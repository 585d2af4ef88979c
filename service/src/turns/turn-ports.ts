import type { Agent } from "../agents/agent.ts";
import type { Limits } from "../agents/limits.ts";
import type { AgentNetwork } from "../agents/network/agent-network.ts";
import type { AgentOptions } from "../agents/run-agent.ts";
import type { Sandbox } from "../agents/sandbox/sandbox.ts";
import type { GitRepository } from "../git/git-repository.ts";
import type { Repository } from "../git/repository.ts";
import type { Worktrees } from "../git/worktrees.ts";
import type { Log } from "../log/log.ts";
import type { Machine } from "../machine.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { StoredTurn } from "../model.ts";
import type { PerProject } from "../per-project.ts";
import type { Committers } from "../pulls/committers.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import type { JobDirectory } from "../service-folder.ts";
import type { AgentHomes } from "../store/agent-homes.ts";
import type { JobCopier } from "../store/job-copier.ts";
import type { KeptCommits } from "../store/kept-commits.ts";
import type { StoredFailure } from "../store/running-turns.ts";
import type { Store } from "../store/store.ts";
import type { BranchRights } from "./branch-rights.ts";
import type { CommitPorts } from "./commit-change.ts";
import type { TurnHost } from "./turn-host.ts";

/** Why a turn failed or was postponed. */
export interface Failure extends StoredFailure {
  reason: string;
  /** Whether it was postponed because the repository's host cannot be reached. */
  isRemote?: boolean;
  /** How long GitHub's rate limit lasts, in milliseconds. Default: unknown. */
  waitMs?: number | undefined;
}

/** The operator's commands for a project. */
export interface ProjectCommands {
  /** Prepares a worktree, for example by installing packages. */
  setup?: string | undefined;
  /** Exits with 0 if a commit is good. */
  check?: string | undefined;
  /** Files that both may read in the sandbox, besides their programs. */
  reads: readonly string[];
  setupNetwork: AgentNetwork;
  repository: Pick<Repository, "ownStart" | "checkOut"> & Pick<GitRepository, "keepIgnored">;
  worktrees: Pick<Worktrees, "lend">;
}

/** Dependencies of a project's turns. */
export interface ProjectPorts extends Omit<CommitPorts, "secrets" | "stop"> {
  repository: Pick<
    Repository,
    | "objects"
    | "findStart"
    | "lastCommitOf"
    | "packCommit"
    | "unpackCommit"
    | "commits"
    | "merge"
    | "rebase"
    | "keep"
    | "push"
    | "copy"
    | "fetch"
    | "branchHead"
    | "paths"
  > &
    CommitPorts["repository"];
  worktrees: Pick<Worktrees, "checkOut" | "takeBack" | "release">;
  pullRequests: PullRequests;
  /** Default: commits are by the agent, and pushed unmodified. */
  committers?: Pick<Committers, "of"> | undefined;
  /** Default: each job's branch is tried. */
  branchRights?: BranchRights | undefined;
  /** The prefix of commit and pull request titles. Default: none. */
  titlePrefix?: string | undefined;
  opensDrafts?: boolean | undefined;
  /** The target branch of pull requests. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  agent: Agent;
  sandbox: Sandbox;
  network: AgentNetwork;
  /** Per job. */
  limits: Limits;
  /** Per attempt. */
  timeLimitMs: number;
  /** Returns after what time agents have to have ended, in milliseconds. Default: they may begin at any time. */
  leftMs?: (() => number) | undefined;
  /** Default: nothing is set up or checked. */
  commands?: ProjectCommands | undefined;
  /** Concurrent turns of the project, over all workers. Default: unlimited. */
  agentsPerProject?: number | undefined;
}

/** Dependencies shared by the turns of all projects. */
interface SharedPorts extends Pick<CommitPorts, "secrets"> {
  store: Store;
  /** Whether no agent of any project can change the service's files. Default: whether this one cannot. */
  areFilesSafe?: boolean | undefined;
  /** Default: only on this machine. */
  homes?: AgentHomes | undefined;
  /** Default: commits that are not pushed exist only in this machine's clone. */
  keptCommits?: KeptCommits | undefined;
  /** Where the kernel limits the memory of agents. Default: nowhere. */
  cgroups?: AgentOptions["cgroups"];
  /** The root of job directories and logs. */
  folder: string;
  /** No agent is run with less free space. Default: 100 MB. */
  minFreeBytes?: number;
  /** Default: none. */
  metrics?:
    | Pick<Metrics, "agentExited" | "agentCost" | "checkEnded" | "workKept" | "turnStarted" | "workerTakes">
    | undefined;
  /** Default: the disk and the processes of this machine. */
  host?: TurnHost;
  /** Default: this machine. */
  machine?: Machine;
}

/** Dependencies of a turn. */
export interface TurnPorts extends ProjectPorts, SharedPorts, Pick<CommitPorts, "stop"> {
  /** Called with the reason when a turn fails or is postponed. */
  onFailure?: (failure: Failure) => void;
  /** Called after the agent ended, so that the attempt counts in any case. */
  onAgentEnd?: (() => void) | undefined;
  /** Called after a check result was stored. */
  onChecked?: (() => void) | undefined;
}

export interface WorkerOptions extends SharedPorts {
  /** Turns of other projects are left to other workers. */
  projects: PerProject<ProjectPorts>;
  /** Returns the projects whose turns may be taken now; `undefined` for all. Default: all. */
  ownProjects?: (() => Promise<readonly string[] | undefined>) | undefined;
  /**
   * Called when a turn waits because the repository's host is unavailable, with the milliseconds that the host asked for, if any. Default:
   * ignored.
   */
  onOutage?: ((project: string, reason: string, waitMs: number | undefined) => void) | undefined;
  agents: number;
  /** Stops running agents and requeues their turns. */
  signal: AbortSignal;
  /** Default: jobs are only in the store. */
  copier?: JobCopier | undefined;
  log: Log;
}

/** A turn's dependencies while it runs. */
export interface TurnContext extends TurnPorts {
  host: TurnHost;
  machine: Machine;
  directory: JobDirectory;
  /** Whether the job has no session to continue: it is new, or the session was removed. */
  isNewHome: boolean;
  logFile: string;
  /** The job's turns when this one started; all earlier ones had ended. */
  turns: readonly StoredTurn[];
  /** The beginning of the agent's prompt. Default: the request. */
  opening?: string | undefined;
  log: (text: string) => void;
}
