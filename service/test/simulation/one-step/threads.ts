import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bot, FakeGitHub } from "../../../../test/support/fake-github.ts";
import { owner } from "./github.ts";

/** A comment that starts a run. */
export interface AskingComment {
  /** Of the issue or pull request. */
  number: number;
  thread: FakeGitHub;
  isNew: boolean;
  /** What its run compares: an issue has no range of its own. */
  since: string;
  /** The file with the event. */
  file: string;
}

/** Larger than the number of any pull request. */
const issueNumber = 1000;
const writer = { id: 2, login: "writer", type: "User" };

/** Returns whether a request is about the thread and who writes in it. */
export const isOfThread = (route: string): boolean => /\/(?:comments|reactions|permission|labels)\b/.test(route);

/** The threads in which people ask for work: an issue, and pull requests. */
export class Threads {
  readonly #threads = new Map<number, FakeGitHub>();
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Lets a person ask for work. @param asked - `number`: that of the pull request; by default, in the issue */
  comment(run: number, { number = issueNumber, isNew }: { number: number | undefined; isNew: boolean }): AskingComment {
    const thread = this.#threads.get(number) ?? new FakeGitHub();
    this.#threads.delete(number);
    this.#threads.set(number, thread);
    const body = `/agent ${isNew ? "new " : ""}update the page of request ${run}`;
    const { id } = thread.add(writer, body);
    const url = `https://github.com/${owner}/docs/${number === issueNumber ? "issues" : "pull"}/${number}`;
    const payload = {
      action: "created",
      comment: { id, body, user: writer },
      issue: {
        number,
        title: "Pages are out of date",
        body: "",
        html_url: url,
        ...(number !== issueNumber && { pull_request: { url } }),
      },
      repository: { name: "docs", owner: { login: owner }, private: true },
      sender: writer,
    };
    const file = join(this.#folder, `event-${run}.json`);
    writeFileSync(file, JSON.stringify(payload));
    return { number, thread, isNew, since: number === issueNumber ? "24h" : "auto", file };
  }

  /** Lets a person delete the newest reply of the thread with the newest request. Returns whether there is one. */
  deleteReply(): boolean {
    const comments = [...this.#threads.values()].at(-1)?.comments ?? [];
    const index = comments.findLastIndex(({ user }) => user.id === bot.id);
    if (index >= 0) comments.splice(index, 1);
    return index >= 0;
  }
}
