import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Access } from "../http/authentication.ts";
import { HttpException } from "../http/http-exception.ts";
import type { JobPosition, JobStatus, ListedJob } from "../model.ts";
import type { PerProject } from "../per-project.ts";
import { commitTitle } from "../pulls/commit-title.ts";
import { type DetailStore, readJobDetail } from "./job-detail.ts";
import { renderJobList } from "./job-list-page.ts";
import type { PageReply } from "./page-reply.ts";
import type { PageStore } from "./page-store.ts";

export interface JobListOptions {
  /** See `basePathOf`. */
  basePath: string;
  store: Pick<PageStore, "lists"> & DetailStore;
  projects: PerProject<{ repositoryName: string }>;
}

const pageLength = 50;
/** How many characters of a prompt are read. Its first line that is not empty becomes the title of its job. */
const maxPromptLength = 1000;
const maxTitles = 10_000;

export const statuses: readonly JobStatus[] = ["active", "completed", "failed", "archived"];

/** The start page: the jobs, newest first, in pages that are stable while jobs are added. */
export class JobList {
  readonly #options: JobListOptions;
  /** By the job's id. They never expire, because the first prompt of a job never changes. */
  readonly #titles = new LRUCache<string, string>({ max: maxTitles });

  readonly #reasons = new LRUCache<number, string>({ max: maxTitles });

  constructor(options: JobListOptions) {
    this.#options = options;
  }

  /**
   * Returns the page.
   *
   * @param query - `project` and `state` choose jobs, and `before` is where the page begins
   * @throws HttpException 404 if the project is not one of the reader's, 400 if another field is not valid
   */
  async show(query: URLSearchParams, { projects }: Access): Promise<PageReply> {
    const { store, basePath } = this.#options;
    const project = query.get("project") || undefined;
    const status = statusIn(query);
    const after = positionIn(query);
    if (project !== undefined && !projects.includes(project)) throw new HttpException(404, "Project not found");
    const shown = project === undefined ? projects : [project];
    // One extra job tells whether there is another page.
    const found = await store.lists.jobs({ projects: shown, status, after, limit: pageLength + 1 });
    const jobs = [];
    for (const job of found.slice(0, pageLength)) {
      const [title, detail] = [await this.#title(job), await readJobDetail(store, job, this.#reasons)];
      jobs.push({ ...job, title, detail });
    }
    const last = found.length > pageLength ? jobs.at(-1) : undefined;
    const next = last && positionText(last);
    const isFirst = after === undefined;
    const repositoryName = this.#repositoryOf(shown);
    const page = { basePath, repositoryName, projects, project, status, jobs, isFirst, next };
    return { status: 200, body: [renderJobList(page)] };
  }

  /** Returns the name of the repository of all these projects; `undefined` if they have several. */
  #repositoryOf(projects: readonly string[]): string | undefined {
    const names = new Set(projects.map((project) => this.#options.projects.get(project)?.repositoryName));
    return names.size === 1 ? [...names][0] : undefined;
  }

  async #title({ id, firstTurn }: ListedJob): Promise<string> {
    const known = this.#titles.get(id);
    if (known !== undefined || firstTurn === null) return known ?? id;
    // SQLite reads all of a prompt to return its beginning, which takes some milliseconds for 30 MiB.
    await setImmediate();
    const turn = await this.#options.store.lists.turnExcerpt(firstTurn, maxPromptLength);
    if (turn === undefined) return id;
    const title = commitTitle(turn.prompt);
    this.#titles.set(id, title);
    return title;
  }
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
