import { accessSync, constants, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { errorMessage } from "../error-message.ts";
import type { Limits } from "./limits.ts";

/** Where the kernel shows control groups. Replaced in tests. */
export interface CgroupFiles {
  /** The folder of the hierarchy. Default: `/sys/fs/cgroup`. */
  root?: string;
  /** Says which group a process is in. Default: the one of this process. */
  ownGroup?: string;
}

export interface JobCgroup extends AsyncDisposable {
  /** Moves a process there, with all that it will start. */
  add(processId: number): void;
  /** Whether the kernel killed the group, because it had no memory left. */
  readonly hadTooLittleMemory: boolean;
}

/** The supervisor of an agent, a part of the service, is in its group. */
const supervisorBytes = 64 * 1024 * 1024;
/** A group can be removed only a moment after its last process has ended. */
const removalTries = 40;
const removalPauseMs = 50;

/**
 * Control groups in which the kernel limits the memory of agents, whatever it is used for, and the number of their processes. Linux's documentation: "Control Group
 * v2", systemd's: "Control Group APIs and Delegation".
 */
export class Cgroups {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Prepares the group that is delegated to the service: moves the service's processes to one within it, because a group with
   * limits in it may have none itself.
   *
   * @throws if none is delegated, with why not as the message
   */
  static async open({ root = "/sys/fs/cgroup", ownGroup = "/proc/self/cgroup" }: CgroupFiles = {}): Promise<Cgroups> {
    const path = /^0::(.*)$/m.exec(readFileSync(ownGroup, "utf8"))?.[1];
    if (path === undefined || !existsSync(join(root, "cgroup.controllers")))
      throw new Error("this machine does not use cgroup v2 only");
    const own = join(root, path);
    const folder = basename(own) === "service" && existsSync(join(own, "../cgroup.type")) ? join(own, "..") : own;
    // The one of the machine itself has no type. A session or a slice belongs to others, even if root may write to it.
    if (!existsSync(join(folder, "cgroup.type")) || (process.getuid?.() === 0 && /\.(?:scope|slice)$/.test(folder)))
      throw new Error("the service has no cgroup of its own");
    const controllers = readFileSync(join(folder, "cgroup.controllers"), "utf8");
    if (!/\bmemory\b/.test(controllers)) throw new Error("the service's cgroup has no memory controller");
    accessSync(join(folder, "cgroup.procs"), constants.W_OK);
    accessSync(folder, constants.W_OK);
    mkdirSync(join(folder, "service"), { recursive: true });
    const processes = () => readFileSync(join(folder, "cgroup.procs"), "utf8").split("\n").filter(Boolean);
    for (let tries = 0; tries < removalTries && processes().length > 0; tries++)
      for (const id of processes()) moveTo(join(folder, "service"), id);
    writeFileSync(join(folder, "cgroup.subtree_control"), /\bpids\b/.test(controllers) ? "+memory +pids" : "+memory");
    return new Cgroups(folder);
  }

  /**
   * Creates the group of an agent.
   *
   * @param name - of the job
   * @throws if it cannot be created
   */
  create(name: string, { memoryMb, processes }: Pick<Limits, "processes"> & { memoryMb: number }): JobCgroup {
    const group = join(this.#folder, `agent-${name}`);
    mkdirSync(group, { recursive: true });
    writeFileSync(join(group, "memory.max"), String(memoryMb * 1024 * 1024 + supervisorBytes));
    // A thread counts as a process here.
    if (processes !== undefined && existsSync(join(group, "pids.max")))
      writeFileSync(join(group, "pids.max"), String(processes));
    // All of its processes, because an agent that continues without one of them may do anything.
    writeFileSync(join(group, "memory.oom.group"), "1");
    if (existsSync(join(group, "memory.swap.max"))) writeFileSync(join(group, "memory.swap.max"), "0");
    return {
      add: (id) => writeFileSync(join(group, "cgroup.procs"), String(id)),
      get hadTooLittleMemory() {
        return /^oom_kill [1-9]/m.test(readFileSync(join(group, "memory.events"), "utf8"));
      },
      [Symbol.asyncDispose]: () => remove(group),
    };
  }
}

function moveTo(group: string, processId: string): void {
  try {
    writeFileSync(join(group, "cgroup.procs"), processId);
  } catch (error) {
    // It has ended meanwhile.
    if (!/ESRCH/.test(errorMessage(error))) throw error;
  }
}

async function remove(group: string): Promise<void> {
  try {
    // Since Linux 5.14.
    if (existsSync(join(group, "cgroup.kill"))) writeFileSync(join(group, "cgroup.kill"), "1");
  } catch {
    // Then its processes end by themselves, or stay.
  }
  for (let tries = 0; tries < removalTries; tries++) {
    try {
      rmdirSync(group);
      return;
    } catch {
      await setTimeout(removalPauseMs);
    }
  }
}
