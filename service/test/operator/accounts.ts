import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { DocsRepository } from "../../../tools/docs-repository.ts";
import { file } from "../chaos/agent.ts";
import { readPushed } from "../chaos/pushed-state.ts";
import type { GitHub } from "../support/github-with-git.ts";
import { type Job, type Jobs, project } from "./jobs.ts";
import { state, url } from "./machine.ts";
import type { Model } from "./model.ts";

interface End {
  jobs: Jobs;
  model: Model;
  docs: DocsRepository;
  github: GitHub;
}

interface PullRequest {
  html_url: string;
  head: { ref: string };
}

/** The reason that the runbook leaves a job with. All others were run again. */
const knownReasons = /Stopped by an operator/;

/** Returns what does not agree: what clients were told, GitHub, the model, and the machine. */
export async function findWrong({ jobs, model, docs, github }: End): Promise<string[]> {
  const pushed = readPushed(docs.path, file);
  const pulls = (await github.call("GET", "/pulls?state=all&per_page=100")) as PullRequest[];
  const wrong: string[] = [];
  for (const job of jobs.all) {
    const branch = pushed.get(`agent/${job.id}`);
    const say = (text: string) => wrong.push(`${job.id} "${job.prompts[0]}": ${text}`);
    const own = pulls.filter(({ head }) => head.ref === `agent/${job.id}`);
    const shown = await read(jobs, job);
    if (shown.status !== job.fate) say(`it is ${shown.status}, expected ${job.fate}`);
    if (job.fate === "failed" && !knownReasons.test(await logOf(jobs, job)))
      say("its log has no reason that the docs name");
    const prompts = job.fate === "failed" ? [] : job.prompts;
    const subjects = (branch?.commits ?? []).map(({ subject }) => subject);
    if (subjects.join("\n") !== prompts.join("\n")) say(`its branch has the commits "${subjects}"`);
    if ((branch?.lines ?? []).join("\n") !== prompts.join("\n")) say(`its branch has the lines "${branch?.lines}"`);
    if (branch?.commits.some((commit) => commit.job !== job.id)) say("it has a commit of another job");
    if (own.length !== Math.min(1, prompts.length)) say(`it has ${own.length} pull requests`);
    if (job.fate === "completed" && shown.prLink !== own[0]?.html_url) say(`the API links ${shown.prLink}`);
    for (const prompt of job.prompts)
      if ((model.begun.get(prompt) ?? 0) > job.mayRun) say(`its agent ran ${model.begun.get(prompt)} times`);
    const stays = job.fate === "lost" ? [] : leftInTurn(job);
    if (stays.length > 0) say(`its turn left ${stays}`);
  }
  const known = new Set(jobs.all.map(({ id }) => `agent/${id}`));
  for (const name of [...pushed.keys(), ...pulls.map(({ head }) => head.ref)])
    if (!known.has(name)) wrong.push(`${name} is of no job that anyone was told of`);
  const prompts = new Set(jobs.all.flatMap((job) => job.prompts));
  for (const prompt of model.begun.keys())
    if (!prompts.has(prompt)) wrong.push(`an agent ran for "${prompt}", which was rejected`);
  return [...wrong, ...model.beside.map((prompt) => `two agents ran for "${prompt}" at the same time`)];
}

async function read(jobs: Jobs, { id }: Job): Promise<{ status: string; prLink: string | null }> {
  const headers = { authorization: `Bearer ${jobs.key}` };
  const answer = await fetch(`${url}/v2/agent/${project}/job/${id}`, { headers });
  if (answer.status === 404) return { status: "lost", prLink: null };
  return (await answer.json()) as { status: string; prLink: string | null };
}

async function logOf(jobs: Jobs, { id }: Job): Promise<string> {
  const headers = { authorization: `Bearer ${jobs.key}` };
  return (await fetch(`${url}/job/${id}/log?follow=no`, { headers })).text();
}

/** Returns what a turn has for its agent, and must be gone; and what is in its worktree besides what was committed. */
function leftInTurn({ id }: Job): string[] {
  const directory = join(state, "jobs.sqlite.files/jobs", id);
  const names = readdirSync(directory);
  const tree = names.includes("tree") ? readdirSync(join(directory, "tree")) : [];
  return [
    ...names.filter((name) => ["tmp", "input", "check", "processes.json"].includes(name)),
    ...tree.filter((name) => ![".git", "README.md", "docs", file].includes(name)),
  ];
}
