import { setImmediate } from "node:timers/promises";
import { shellAgent } from "../../src/agents/agent.ts";
import { fullNetwork } from "../../src/agents/network/agent-network.ts";
import type { AgentResult } from "../../src/agents/run-agent.ts";
import { unconfined } from "../../src/agents/sandbox/sandbox.ts";
import { jobBranch, type StoredTurn } from "../../src/model.ts";
import { PerProject } from "../../src/per-project.ts";
import { isCommitOf } from "../../src/pulls/commit-message.ts";
import { Committers } from "../../src/pulls/committers.ts";
import { ReadyTurns } from "../../src/store/ready-turns.ts";
import type { Database, Value } from "../../src/store/sql.ts";
import { machineClock } from "../../src/store/sqlite/open-store.ts";
import { Store } from "../../src/store/store.ts";
import { countTurnIds } from "../../src/store/turn-ids.ts";
import type { TurnHost } from "../../src/turns/turn-host.ts";
import { Worker } from "../../src/turns/worker.ts";
import { FakeMachine } from "./fake-machine.ts";
import { memoryDatabase } from "./memory-database.ts";
import { memoryHost } from "./memory-host.ts";
import type { Edits, MemoryCommit } from "./memory-objects.ts";
import { MemoryPullRequests } from "./memory-pull-requests.ts";
import { MemoryRemote, refill } from "./memory-remote.ts";
import { MemoryRepository } from "./memory-repository.ts";
import { memoryWorktrees } from "./memory-worktrees.ts";

const job = "job_00000000-0000-4000-8000-000000000001";

/** What a worker does that others can see, or that the next one finds. */
const effects = new Set([
  ...["run", "transaction"],
  ...["push", "deleteBranches", "keep", "unpackCommit"],
  ...["open", "save", "runAgent"],
]);

/** One worker's process. */
class Life {
  /** How many effects it has begun. */
  begun = 0;
  readonly #onEffect: (number: number) => "die" | undefined;
  readonly #died = Promise.withResolvers<"died">();
  #isDead = false;

  /** @param onEffect - called before each effect */
  constructor(onEffect: (number: number) => "die" | undefined = () => undefined) {
    this.#onEffect = onEffect;
  }

  get died(): Promise<"died"> {
    return this.#died.promise;
  }

  /** Returns a port as this process has it: once that is dead, no call returns, or does anything. */
  wrap<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]): unknown => {
          if (!this.#isDead && effects.has(String(name)) && this.#onEffect(++this.begun) === "die") {
            this.#isDead = true;
            this.#died.resolve("died");
          }
          return this.#isDead ? new Promise(() => {}) : Reflect.apply(value, target, args);
        };
      },
    });
  }
}

/** How often a worker is looked at that waits for nothing but files, which takes seconds. */
const maxLooks = 2_000_000;

/** The rows of a database, by its tables. */
type Tables = ReadonlyMap<string, readonly Record<string, Value>[]>;

async function readTables(database: Database): Promise<Tables> {
  // Triggers write those of the words.
  const named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'turnText%'";
  const tables = await database.rows<{ name: string }>(named);
  const rows = tables.map(
    async ({ name }) => [name, await database.rows<Record<string, Value>>(`SELECT * FROM ${name}`)] as const,
  );
  return new Map(await Promise.all(rows));
}

async function writeTables(database: Database, tables: Tables): Promise<void> {
  await database.transaction(async (transaction) => {
    await transaction.run("PRAGMA defer_foreign_keys = ON");
    for (const [name, rows] of tables) {
      await transaction.run(`DELETE FROM ${name}`);
      for (const row of rows) {
        const columns = Object.keys(row);
        const sql = `INSERT INTO ${name} (${columns.join()}) VALUES (${columns.map(() => "?").join()})`;
        await transaction.run(sql, ...Object.values(row));
      }
    }
  });
}

export interface WorldOptions {
  /** Whether commits are stored for other machines: not at all, or because machines end with their runs. Default: not at all. */
  keeps?: "nothing" | "only place" | undefined;
  /** What is committed is checked with this result, one after another. Default: nothing is checked. */
  checks?: readonly AgentResult["end"][] | undefined;
  /** For what a check leaves on the disk. Required with `checks`. */
  folder?: string | undefined;
  /** Of the job's branch. Default: that of the service. */
  branchPrefix?: string | undefined;
}

/** A job whose turns run in memory, on any number of machines, with workers that can die, and people who work on the same branch. */
export class TurnWorld implements AsyncDisposable {
  readonly branch: string;
  readonly remote = new MemoryRemote();
  readonly machine = new FakeMachine();
  readonly pulls = new MemoryPullRequests(this.remote, () => this.machine.wallTime());
  /** The commits that are stored for other machines, by job. */
  readonly bundles = new Map<string, Uint8Array>();
  /** The prompts of the turns whose agents were started, in that order. */
  readonly agents: string[] = [];
  /** All that these agents were told. */
  readonly told: string[] = [];
  /** How the last check of these paths ended. */
  readonly checked = new Map<string, AgentResult["end"]>();
  /** What the next agents change, by their prompts. Default: a file of their own. */
  readonly edits = new Map<string, Edits>();
  log = "";
  /** What titles begin with. Default: nothing. */
  titlePrefix: string | undefined;
  /** The types of the rules that GitHub tells of. Default: the repository is not on GitHub. */
  rules: readonly string[] | undefined;
  readonly #database = memoryDatabase();
  readonly #options: WorldOptions;
  #checks = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.branch = jobBranch(job, options.branchPrefix);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#database[Symbol.asyncDispose]();
  }

  /** Returns the clone of a new machine. */
  async addClone(): Promise<MemoryRepository> {
    const clone = new MemoryRepository(this.remote);
    await clone.open();
    return clone;
  }

  /** Returns what brings everything back to how it is now, except for other clones. */
  async snapshot(...clones: readonly MemoryRepository[]): Promise<() => Promise<void>> {
    const others = [this.remote, this.pulls, ...clones].map((one) => one.snapshot());
    const [bundles, agents, checks] = [[...this.bundles], [...this.agents], this.#checks];
    const rows = await readTables(this.#database);
    return async () => {
      for (const restore of others) restore();
      refill(this.bundles, bundles);
      this.agents.splice(0, this.agents.length, ...agents);
      this.#checks = checks;
      await writeTables(this.#database, rows);
    };
  }

  #storeOf(life: Life): Store {
    const database = life.wrap(this.#database);
    return new Store({ database, ready: new ReadyTurns({ clock: machineClock }), nextTurnId: countTurnIds });
  }

  get store(): Store {
    return this.#storeOf(new Life());
  }

  /** Adds a turn with a prompt. */
  async send(prompt: string): Promise<void> {
    const { jobs, turns } = this.store;
    if ((await jobs.find(job)) === undefined)
      await jobs.add({ id: job, project: "docs", branch: this.branch, createdAt: this.machine.wallTime() }, prompt);
    else await turns.add(job, prompt, this.machine.wallTime());
  }

  /** Makes the store forget which commits were made, as a copy of a job can. */
  async forgetMade(): Promise<void> {
    await this.#database.run("UPDATE turn SET made = NULL");
  }

  turns(): Promise<readonly StoredTurn[]> {
    return this.store.turns.ofJob(job);
  }

  async lastTurn(): Promise<StoredTurn> {
    const last = (await this.turns()).at(-1);
    if (last === undefined) throw new Error("there is no turn");
    return last;
  }

  /** Returns the link to the job's pull request. */
  async link(): Promise<string | null> {
    return (await this.store.jobs.find(job))?.pullRequest ?? null;
  }

  /** Returns the commits on the job's branch that the target branch lacks, newest first. */
  commits(): MemoryCommit[] {
    const { heads, objects } = this.remote;
    const head = heads.get(this.branch);
    return head === undefined ? [] : objects.log([head], [this.remote.head("main")]);
  }

  /** Returns whether a commit of a turn is one of these. */
  has(turn: StoredTurn, commits: readonly MemoryCommit[] = this.commits()): boolean {
    return commits.some(({ message }) => isCommitOf(turn, message));
  }

  /** Returns the last commit that a clone, or the store for other machines, has of the job. */
  async kept(clone: MemoryRepository | "bundles"): Promise<MemoryCommit | undefined> {
    if (clone === "bundles") {
      const packed = this.bundles.get(job);
      const found = packed && (await (await this.addClone()).unpackCommit(job, packed));
      return found && this.remote.objects.commit(found.commit);
    }
    const id = clone.jobs.get(job);
    return id === undefined ? undefined : this.remote.objects.commit(id);
  }

  /**
   * Runs the job's first turn, then its second one, and does this once the agent of that has begun.
   *
   * @returns the clone of the machine that ran both
   * @throws if that agent does not begin
   */
  async runSecond(act: () => void): Promise<MemoryRepository> {
    const clone = await this.addClone();
    await this.send("One");
    await this.run(clone);
    await this.send("Two");
    let isDone = false;
    await this.run(clone, () => {
      if (this.agents.length === 2 && !isDone) {
        isDone = true;
        act();
      }
      return undefined;
    });
    if (!isDone) throw new Error("the second agent has not begun");
    return clone;
  }

  /**
   * Runs the waiting turns on a machine, with a new worker.
   *
   * @param onEffect - called before each effect of the worker, with its number. The worker dies instead if it says so
   * @returns `stuck` if a turn has not ended after half a day
   */
  async run(
    clone: MemoryRepository,
    onEffect?: (number: number) => "die" | undefined,
  ): Promise<{ end: "ended" | "died" | "stuck"; effects: number }> {
    const life = new Life(onEffect);
    const stop = new AbortController();
    const store = this.#storeOf(life);
    const worker = new Worker({ ...this.#ports(clone, life), store, signal: stop.signal });
    const done = Promise.withResolvers<"ended">();
    const finish = async (): Promise<void> => {
      await worker.start();
      const isOpen = ({ state }: StoredTurn): boolean => state !== "completed" && state !== "failed";
      while ((await this.turns()).some(isOpen)) {
        await worker.drain();
        // While it waits for the store, nothing runs.
        await setImmediate();
      }
      done.resolve("ended");
    };
    void finish();
    let end: "ended" | "died" | "stuck" | undefined;
    void Promise.race([done.promise, life.died]).then((found) => {
      end = found;
    });
    for (let [minutes, looks] = [0, 0]; end === undefined && minutes < 12 * 60 && looks < maxLooks; looks++) {
      await setImmediate();
      if (!this.machine.isWaitedFor) continue;
      this.machine.pass(60_000);
      minutes++;
    }
    stop.abort();
    return { end: end ?? "stuck", effects: life.begun };
  }

  #ports(clone: MemoryRepository, life: Life) {
    const { keeps = "nothing", checks, folder = "/service" } = this.#options;
    const repository = life.wrap(clone);
    const { titlePrefix, rules } = this;
    const { ownStart, checkOut } = repository;
    const worktrees = memoryWorktrees(repository);
    const checked = { ownStart, checkOut, keepIgnored: async () => [] };
    const commands = { check: "check", reads: [], setupNetwork: fullNetwork, worktrees, repository: checked };
    const project = {
      repository,
      worktrees,
      pullRequests: life.wrap(this.pulls),
      agent: shellAgent("agent"),
      sandbox: unconfined,
      network: fullNetwork,
      limits: {},
      timeLimitMs: 90_000,
      largestChangeBytes: 1_000_000,
      titlePrefix,
      ...(rules && { committers: new Committers({ repository, gitHub: gitHubWith(rules) }) }),
      ...(checks && {
        commands: { ...commands, repository: Object.assign(repository, { keepIgnored: async () => [] }) },
      }),
    };
    const { bundles } = this;
    const keptCommits = life.wrap({
      isOnlyPlace: true,
      save: async (_turn: unknown, bundle: Uint8Array) => void bundles.set(job, bundle),
      load: async (id: string) => bundles.get(id),
    });
    return {
      projects: PerProject.same(project),
      folder,
      agents: 1,
      machine: this.machine,
      log: () => {},
      host: life.wrap(this.#host(clone)),
      ...(keeps === "only place" && { keptCommits }),
    };
  }

  #host(clone: MemoryRepository): TurnHost {
    return {
      ...memoryHost,
      appendLog: (_file, text) => {
        this.log += text;
      },
      runAgent: async (_agent, { prompt: told, directories: { tree } }) => {
        const result = { end: "completed", message: "Done", error: undefined } as const;
        if (tree.includes("/check/")) {
          const end = this.#options.checks?.[this.#checks++] ?? result.end;
          this.checked.set(clone.files(tree).join(), end);
          return { ...result, end };
        }
        const [prompt = ""] = told.split("\n\n");
        this.agents.push(prompt);
        this.told.push(told);
        const name = prompt.replace(/\W.*/s, "");
        clone.edit(tree, this.edits.get(prompt) ?? { [`${name}.md`]: `${name}, ${this.agents.length}\n` });
        return result;
      },
    };
  }
}

/** Returns a GitHub that tells of rules, and signs nothing. */
const gitHubWith = (rules: readonly string[]) => ({
  bot: async () => ({ name: "docs[bot]", email: "1+docs[bot]@users.noreply.github.com" }),
  rulesOf: async () => new Set(rules),
  sign: () => Promise.reject(new Error("nothing requires signatures")),
});
