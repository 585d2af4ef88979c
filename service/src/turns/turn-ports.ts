import type { Agent } from "../agents/agent.ts";
import type { Limits } from "../agents/limits.ts";
import type { AgentNetwork } from "../agents/network/agent-network.ts";
import type { AgentOptions } from "../agents/run-agent.ts";
import type { Sandbox } from "../agents/sandbox/sandbox.ts";
import type { GitRepository } from "../git/git-repository.ts";
import type { Repository } from "../git/repository.ts";
import type { Worktrees } from "../git/worktrees.ts";
import type { Machine } from "../machine.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { StoredTurn } from "../model.ts";
import type { Committers } from "../pulls/committers.ts";
import type { PullRequests } from "../pulls/pull-requests.ts";
import type { JobDirectory } from "../service-folder.ts";
import type { AgentHomes } from "../store/agent-homes.ts";
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

/** What a turn depends on. */
export interface TurnPorts extends CommitPorts {
  store: Store;
  repository: Pick<
    Repository,
    | "objects"
    | "findStart"
    | "lastCommitOf"
    | "packCommit"
    | "unpackCommit"
    | "commits"
    | "rebase"
    | "keep"
    | "push"
    | "copy"
    | "fetch"
    | "branchHead"
  > &
    CommitPorts["repository"];
  worktrees: Pick<Worktrees, "checkOut" | "takeBack" | "release">;
  pullRequests: PullRequests;
  /** Default: commits are by the agent, and pushed as they are in the clone. */
  committers?: Pick<Committers, "of"> | undefined;
  /** The branch that pull requests are opened against. Default: the repository's default branch. */
  targetBranch?: string | undefined;
  agent: Agent;
  sandbox: Sandbox;
  network: AgentNetwork;
  /** Whether no agent of any project can change files of the service. Default: whether this one cannot. */
  areFilesSafe?: boolean | undefined;
  /** Default: only on this machine. */
  homes?: AgentHomes | undefined;
  /** Default: commits whose push was refused are only in this machine's clone. */
  keptCommits?: KeptCommits | undefined;
  /** Per job. */
  limits: Limits;
  /** Where the kernel limits the memory of agents. Default: nowhere. */
  cgroups?: AgentOptions["cgroups"];
  /** The service's folder, for the directories of jobs and their logs. */
  folder: string;
  /** Per attempt. */
  timeLimitMs: number;
  /** Receives why a turn failed or was postponed. */
  onFailure?: (failure: Failure) => void;
  /** Called when the agent of the turn has run to its end, so that its attempt counts whatever happens then. */
  onAgentEnd?: (() => void) | undefined;
  /** Called when it is stored what the check of the turn's commit showed. */
  onChecked?: (() => void) | undefined;
  /** No agent is run with less free space. Default: 100 MB. */
  minFreeBytes?: number;
  /** Counts the ends of agents. Default: nothing does. */
  metrics?: Pick<Metrics, "agentExited" | "agentCost" | "checkEnded" | "turnStarted" | "workerTakes"> | undefined;
  /** Default: nothing is set up or checked. */
  commands?: ProjectCommands | undefined;
  /** Default: the disk and the processes of this machine. */
  host?: TurnHost;
  /** Default: the one that the process runs on. */
  machine?: Machine;
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
  /** Appends to the job's log. */
  log: (text: string) => void;
}
