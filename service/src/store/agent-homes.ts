import type { RunningTurn, Turn } from "../model.ts";
import type { JobDirectory } from "../service-folder.ts";

type Log = (text: string) => void;

/** Brings the agent's home directory, with its sessions, to where a turn of the job runs, and keeps it afterwards. */
export interface AgentHomes {
  /** Makes the home directory the one that the job's last turn left, or waits until it can be used. */
  bring(turn: Turn, directory: JobDirectory, log: Log): Promise<void>;
  /** Records that an agent is about to change the home directory. */
  begin?(turn: Turn, directory: JobDirectory): Promise<void>;
  /** Keeps the home directory after an agent has ended. The turn does not depend on it. */
  keep?(turn: RunningTurn, directory: JobDirectory, log: Log): Promise<void>;
}
