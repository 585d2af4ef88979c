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
import type { CommitPorts } from "./commit-change.ts";
import type { TurnHost } from "./turn-host.ts";

/** Why a turn failed or was postponed. */
export interface Failure extends StoredFailure {
  reason: string;
  /** Whether it was postponed because the repository's host cannot be reached. */
  isRemote?: boolean;
  /** How long that lasts, in milliseconds, as GitHub has said of its rate limit. Default: unknown. */
  waitMs?: number | undefined;
}

/** The commands that an operator gives for a project. */
export interface ProjectCommands {
  /** Prepares a worktree, such as by installing packages. */
  setup?: string | undefined;
  /** Shows whether a commit is good: it exits with 0 if it is. */
  check?: string | undefined;
  /** Files that they may read in the sandbox, besides their programs. */
  reads: readonly string[];
  /** What `setup` can reach. */
  setupNetwork: AgentNetwork;
  repository: Pick<Repository, "ownStart" | "checkOut"> & Pick<GitRepository, "keepIgnored">;
  worktrees: Pick<Worktrees, "lend">;
}

/** What the turns of a project depend on. */
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
  /** Default: commits are by the agent, and pushed as they are in the clone. */
  committers?: Pick<Committers, "of"> | undefined;
  /** What the titles of commits and pull requests begin with. Default: nothing. */
  titlePrefix?: string | undefined;
  /** Whether pull requests are opened as drafts. Default: no. */
  opensDrafts?: boolean | undefined;
  /** The branch that pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  agent: Agent;
  sandbox: Sandbox;
  network: AgentNetwork;
  /** Per job. */
  limits: Limits;
  /** Per attempt. */
  timeLimitMs: number;
  /** Default: nothing is set up or checked. */
  commands?: ProjectCommands | undefined;
  /** How many turns of the project run at a time, over all workers. Default: any number. */
  agentsPerProject?: number | undefined;
}

/** What the turns of all projects depend on. */
interface SharedPorts extends Pick<CommitPorts, "secrets"> {
  store: Store;
  /** Whether no agent of any project can change files of the service. Default: whether this one cannot. */
  areFilesSafe?: boolean | undefined;
  /** Default: only on this machine. */
  homes?: AgentHomes | undefined;
  /** Default: commits whose push was refused are only in this machine's clone. */
  keptCommits?: KeptCommits | undefined;
  /** Where the kernel limits the memory of agents. Default: nowhere. */
  cgroups?: AgentOptions["cgroups"];
  /** The service's folder, for the directories of jobs and their logs. */
  folder: string;
  /** No agent is run with less free space. Default: 100 MB. */
  minFreeBytes?: number;
  /** Counts the ends of agents. Default: nothing does. */
  metrics?:
    | Pick<Metrics, "agentExited" | "agentCost" | "checkEnded" | "workKept" | "turnStarted" | "workerTakes">
    | undefined;
  /** Default: the disk and the processes of this machine. */
  host?: TurnHost;
  /** Default: the one that the process runs on. */
  machine?: Machine;
}

/** What a turn depends on. */
export interface TurnPorts extends ProjectPorts, SharedPorts, Pick<CommitPorts, "stop"> {
  /** Receives why a turn failed or was postponed. */
  onFailure?: (failure: Failure) => void;
  /** Called when the agent of the turn has run to its end, so that its attempt counts whatever happens then. */
  onAgentEnd?: (() => void) | undefined;
  /** Called when it is stored what the check of the turn's commit showed. */
  onChecked?: (() => void) | undefined;
}

export interface WorkerOptions extends SharedPorts {
  /** Turns of other projects are left to workers that know these. */
  projects: PerProject<ProjectPorts>;
  /** Returns those whose turns may be taken now; `undefined` if that is all. Default: all. */
  ownProjects?: (() => Promise<readonly string[] | undefined>) | undefined;
  /**
   * Called when a turn of a project waits because the repository's host cannot be reached, with how long that lasts in milliseconds if the
   * host has said so. Default: does nothing.
   */
  onOutage?: ((project: string, reason: string, waitMs: number | undefined) => void) | undefined;
  /** How many agents run at a time. */
  agents: number;
  /** Stops the running agents. Their turns are requeued. */
  signal: AbortSignal;
  /** Default: jobs are only in the store. */
  copier?: JobCopier | undefined;
  log: Log;
}

/** What the parts of a turn depend on while it runs. */
export interface TurnContext extends TurnPorts {
  host: TurnHost;
  machine: Machine;
  directory: JobDirectory;
  /** Whether the job has no session of an earlier turn: it is the first one, or the session was removed. */
  isNewHome: boolean;
  /** The job's log. */
  logFile: string;
  /** The turns of the job as they were when this one was started: the earlier ones had ended. */
  turns: readonly StoredTurn[];
  /** How the agent's prompt begins. Default: with what was sent. */
  opening?: string | undefined;
  /** Appends to the job's log. */
  log: (text: string) => void;
}
