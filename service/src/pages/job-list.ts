import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Access } from "../http/authentication.ts";
import { HttpException } from "../http/http-exception.ts";
import type { JobPosition, JobStatus, ListedJob } from "../model.ts";
import type { PerProject } from "../per-project.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { dayMs } from "../time.ts";
import type { TurnAsker } from "./asker.ts";
import { type DetailOptions, type DetailStore, readJobDetail } from "./job-detail.ts";
import { renderJobList } from "./job-list-page.ts";
import type { PageReply } from "./page-reply.ts";
import type { PageStore } from "./page-store.ts";
import { maxAskers } from "./settings.ts";
import type { View } from "./view.ts";
import { startOfDay } from "./words.ts";

export interface JobListOptions extends Pick<DetailOptions, "isAway"> {
  store: Pick<PageStore, "lists"> & DetailStore;
  projects: PerProject<{ repositoryName: string }>;
}

const pageLength = 50;
/** How many characters of a prompt are read. Its first line that is not empty becomes the title of its job. */
const maxPromptLength = 1000;
const maxTitles = 10_000;

export const statuses: readonly JobStatus[] = ["active", "completed", "failed", "archived"];

/** What is shown of a job's first turn. */
interface FirstTurn extends TurnAsker {
  title: string;
}

/** The start page: the jobs, newest first, in pages that are stable while jobs are added. */
export class JobList {
  readonly #options: JobListOptions;
  /** By the job's id. They never expire, because the first turn of a job never changes. */
  readonly #firstTurns = new LRUCache<string, FirstTurn>({ max: maxTitles });

  readonly #reasons = new LRUCache<number, string>({ max: maxTitles });

  constructor(options: JobListOptions) {
    this.#options = options;
  }

  /**
   * Returns the page.
   *
   * @param query - the fields of `JobFilter`, and `before`, where the page begins
   * @throws HttpException 404 if the project is not one of the reader's, 400 if another field is not valid
   */
  async show(query: URLSearchParams, { projects }: Access, view: View): Promise<PageReply> {
    const { store, isAway } = this.#options;
    const [q, project, asker] = [
      query.get("q")?.trim() || undefined,
      query.get("project") || undefined,
      query.get("asker") || undefined,
    ];
    const state = statusIn(query);
    const after = positionIn(query);
    if (project !== undefined && !projects.includes(project)) throw new HttpException(404, "Project not found");
    const shown = project === undefined ? projects : [project];
    const [from, to] = [dayIn(query, "from", view), dayIn(query, "to", view)];
    // A day can have an hour more or less than 24.
    const before = to && startOfDay(new Date(Date.parse(to.date) + dayMs).toISOString().slice(0, 10), view.zone);
    const chosen = { projects: shown, status: state, text: q, asker, from: from?.start, before, after };
    // One extra job tells whether there is another page.
    const found = await store.lists.jobs({ ...chosen, limit: pageLength + 1 });
    const active = found.filter(({ state }) => state === "active").map(({ id }) => id);
    const open = await store.lists.openTurnsOf(active);
    const jobs = [];
    for (const job of found.slice(0, pageLength)) {
      const first = await this.#firstTurn(job);
      const detail = await readJobDetail(store, job, { zone: view.zone, isAway, open, reasons: this.#reasons });
      jobs.push({ ...job, ...first, detail });
    }
    const last = found.length > pageLength ? jobs.at(-1) : undefined;
    const next = last && positionText(last);
    const isFirst = after === undefined;
    const repositoryName = this.#repositoryOf(shown);
    const askers = await store.lists.askers(projects, maxAskers);
    const filter = { q, project, state, asker, from: from?.date, to: to?.date };
    const page = { view, repositoryName, projects, askers, filter, jobs, isFirst, next };
    return { status: 200, body: [renderJobList(page)] };
  }

  /** Returns the name of the repository of all these projects; `undefined` if they have several. */
  #repositoryOf(projects: readonly string[]): string | undefined {
    const names = new Set(projects.map((project) => this.#options.projects.get(project)?.repositoryName));
    return names.size === 1 ? [...names][0] : undefined;
  }

  async #firstTurn({ id, firstTurn }: ListedJob): Promise<FirstTurn> {
    const known = this.#firstTurns.get(id);
    const unknown = { title: id, asked: null, asker: "" };
    if (known !== undefined || firstTurn === null) return known ?? unknown;
    // SQLite reads all of a prompt to return its beginning, which takes some milliseconds for 30 MiB.
    await setImmediate();
    const turn = await this.#options.store.lists.turnExcerpt(firstTurn, maxPromptLength);
    if (turn === undefined) return unknown;
    const { prompt, asked, asker } = turn;
    const first = { title: commitTitle(prompt), asked, asker };
    this.#firstTurns.set(id, first);
    return first;
  }
}

function dayIn(query: URLSearchParams, name: "from" | "to", { zone }: View) {
  const date = query.get(name) || undefined;
  if (date === undefined) return undefined;
  const start = startOfDay(date, zone);
  if (start === undefined) throw new HttpException(400, `${name} must be a day such as 2026-11-27`);
  return { date, start };
}

function statusIn(query: URLSearchParams): JobStatus | undefined {
  const text = query.get("state") || undefined;
  const status = statuses.find((one) => one === text);
  if (status === undefined && text !== undefined) throw new HttpException(400, `state must be ${statuses.join(", ")}`);
  return status;
}

const positionText = ({ createdAt, id }: JobPosition): string => `${createdAt}-${id}`;

function positionIn(query: URLSearchParams): JobPosition | undefined {
  const text = query.get("before") || undefined;
  if (text === undefined) return undefined;
  const [, createdAt, id = ""] = /^(\d{1,15})-([\w-]{1,64})$/.exec(text) ?? [];
  if (createdAt === undefined) throw new HttpException(400, "before is not a position in the list");
  return { createdAt: Number(createdAt), id };
}
