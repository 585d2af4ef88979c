import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { DocsRepository } from "../../../tools/docs-repository.ts";
import { freePort } from "../support/free-port.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { injectFaults } from "./faults.ts";
import { KeyedClient } from "./keyed-client.ts";
import { Random } from "./random.ts";
import type { ChaosResult } from "./run.ts";
import { ServiceProcess } from "./service-process.ts";
import { readStored } from "./stored-state.ts";

export interface KeysOptions {
  /** How many creates there are, each with a key of its own. Each is sent two to five times, at about the same time. */
  creates: number;
  seed: number;
  /** For the folders and the logs of the processes. Created, and kept. */
  folder: string;
  /** Receives what happens. */
  log: (line: string) => void;
}

const apiCount = 2;
const createsPerProject = 70;
const sendingAtOnce = 40;
/** Spreads the creates, so that faults meet them. */
const longestPauseMs = 3000;
/** Longer than a process takes to start, or none would ever answer. */
const faultEveryMs = 4000;

interface KeyedCreate {
  index: number;
  project: string;
}

const stepOf = ({ index }: KeyedCreate): string => `step-${index}`;

/** Sends creates several times each while APIs and Postgres are killed, and compares what was answered and what is stored. */
export async function runKeys({ creates, seed, folder, log }: KeysOptions): Promise<ChaosResult> {
  mkdirSync(folder, { recursive: true });
  using docs = new DocsRepository();
  await using postgres = await PostgresServer.start();
  const projects = Array.from({ length: Math.ceil(creates / createsPerProject) }, (_, index) => `project-${index}`);
  const ports = await Promise.all(Array.from({ length: apiCount }, freePort));
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const start = (port: number, name: string) => {
    const args = ["api", "--repository", docs.path, "--store", postgres.url, "--port", String(port)];
    const own = ["--public-url", "https://agents.example.com"];
    const all = [...args, ...own, ...projects.flatMap((project) => ["--project", project])];
    const files = { folder: join(folder, name), logFile: join(folder, `${name}.log`) };
    return new ServiceProcess({ name, args: all, ...files, onLine: () => {} });
  };
  const processes = ports.map((port, index) => start(port, `api-${index}`));
  try {
    await Promise.all(processes.map((one) => one.waitUntilReady()));
    const startedAt = performance.now();
    const random = new Random(seed);
    const client = new KeyedClient(urls, random);
    const end = new AbortController();
    const faults = injectFaults(
      { postgres, apis: processes, workers: [], random: new Random(seed + 1), everyMs: faultEveryMs, log },
      end.signal,
    );
    const all = Array.from({ length: creates }, (_, index) => ({
      index,
      project: projects[index % projects.length] ?? "",
    }));
    const answers = new Map<KeyedCreate, string[]>();
    const waiting = [...all];
    const sendAll = async (): Promise<void> => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        await setTimeout(random.between(0, longestPauseMs));
        answers.set(one, await client.createOften(one.project, `create ${one.index}`, `${stepOf(one)}.1`));
      }
    };
    await Promise.all(Array.from({ length: sendingAtOnce }, sendAll));
    end.abort();
    const { counts } = await faults;
    log("everything runs undisturbed");
    await Promise.all(processes.map((one) => one.waitUntilReady()));

    const wrong = [...client.wrong, ...processes.flatMap((one) => one.unexpectedExits)];
    const stored = await readStored(postgres.url);
    const byPrompt = Map.groupBy(stored.turns, ({ prompt }) => prompt);
    for (const create of all) {
      const ids = new Set(answers.get(create));
      const turns = byPrompt.get(`create ${create.index}`) ?? [];
      if (ids.size !== 1) wrong.push(`create ${create.index} was answered with the jobs ${[...ids].join(", ")}`);
      if (turns.length !== 1) wrong.push(`create ${create.index} is stored ${turns.length} times`);
      if (!ids.has(turns[0]?.job ?? "")) wrong.push(`create ${create.index} is stored as ${turns[0]?.job}`);
    }
    if (stored.turns.length !== creates) wrong.push(`${stored.turns.length} turns are stored, of ${creates} creates`);
    if (stored.jobs.length !== creates) wrong.push(`${stored.jobs.length} jobs are stored, of ${creates} creates`);
    const counted = stored.turns.filter(({ acceptedAs }) => acceptedAs === "create").length;
    if (counted !== creates) wrong.push(`${counted} creates were counted, of ${creates}`);
    for (const create of all) {
      const found = await client.findStep(urls[create.index % apiCount] ?? "", create.project, stepOf(create));
      const [job] = answers.get(create) ?? [];
      if (found.length !== 1 || found[0] !== job) wrong.push(`${stepOf(create)} has the jobs ${found.join(", ")}`);
    }
    for (const url of urls)
      for (const create of all.slice(-1))
        if (!(await client.isShown(url, create.project, answers.get(create)?.[0] ?? "")))
          wrong.push(`${url} does not show the last job`);

    const numbers = new Map([...counts, ...client.numbers]);
    numbers.set("turns stored", stored.turns.length);
    numbers.set("seconds", Math.round((performance.now() - startedAt) / 1000));
    return { wrong, numbers };
  } finally {
    await Promise.all(processes.map((one) => one.stop()));
  }
}
