import { expect, test } from "vitest";
import type { GitHub } from "../../../../src/action/runner/github.ts";
import { FakeCache } from "../../../support/fake-cache.ts";
import { prLink, record, respondWith, runMain } from "../../../support/run-main.ts";

/* What the next night of a session does, by all that is known of the job of the night before. */

const pulls = {
  none: undefined,
  open: { state: "open", merged: false },
  closed: { state: "closed", merged: false },
  merged: { state: "closed", merged: true },
  unreadable: new Error("not found"),
} as const;

interface Job {
  status: string;
  kept?: string;
  failures?: number;
}

/** Returns the job of the next request, and the titles of what is told besides its result. */
async function nextNight({ status, kept, failures = 0 }: Job, pull: keyof typeof pulls): Promise<string> {
  const cache = new FakeCache();
  const environment = { GITHUB_RUN_ID: "1", GITHUB_JOB: "docs", GITHUB_ACTION: "a" };
  const github: GitHub = {
    request: async (route) => {
      const found = pulls[pull];
      if (found instanceof Error || !route.includes("/pulls/")) throw found;
      return found;
    },
    paginate: () => Promise.reject(new Error("not needed")),
  };
  const night = (run: string, respond: Parameters<typeof runMain>[0]["respond"]) =>
    runMain({
      cache,
      github,
      respond,
      inputs: { session: "nightly", "github-token": "ghs_0123456789" },
      environment: { ...environment, GITHUB_RUN_ID: run },
    });
  const link = pull === "none" ? null : prLink;
  await night("1", ({ method }) =>
    method === "POST" ? respondWith(201, record()) : respondWith(200, record({ status: "completed", prLink: link })),
  );
  const saved = cache.entries.findLast(({ key }) => key.startsWith("agent-session-"));
  if (saved === undefined) throw new Error("the session has no entry");
  saved.text = JSON.stringify({ ...JSON.parse(saved.text), failures });
  const { requests, toolkit } = await night("2", ({ method, path }) => {
    if (method === "POST" && path.endsWith("/job")) return respondWith(201, record({ id: "job_2" }));
    if (method === "POST") return respondWith(200, record());
    if (path.endsWith("/job_2")) return respondWith(200, record({ id: "job_2", status: "completed", prLink }));
    if (status === "not found") return respondWith(404, { error: "Job not found" });
    return respondWith(200, record({ status, prLink: link, ...(kept && { kept }) }));
  });
  const sent = requests.find(({ method }) => method === "POST")?.path.endsWith("/message") ? "to it" : "new";
  const titles = toolkit.annotations.map(({ title }) => title).filter((title) => /^Session |^Cannot read/.test(title));
  return [sent, ...titles].join(": ");
}

const jobs: Job[] = ["active", "completed", "failed", "archived", "not found"].flatMap((status) =>
  [undefined, "push", "unfinished"].flatMap((kept) => {
    // Nothing is read of a job that is gone, and of one that completed nothing is unfinished.
    if (kept !== undefined && ["active", "not found"].includes(status)) return [];
    const job = { status, ...(kept && { kept }) };
    return status === "failed" ? [0, 2, 3].map((failures) => ({ ...job, failures })) : [job];
  }),
);

const leaves = "new: Session leaves work that is kept";
const starts = "new: Session starts a new job";
const unread = "to it: Cannot read the state of the pull request";

/** For a job without a pull request, and with one that is open, closed, merged or cannot be read. */
const expected: Record<string, readonly string[]> = {
  "active, kept: nothing": ["to it", "to it", "to it", "to it", "to it"],
  "completed, kept: nothing": ["new", "to it", "new", "new", unread],
  // It is published first. A person who closed the pull request did not want it there.
  "completed, kept: push": ["to it", "to it", leaves, "to it", unread],
  "completed, kept: unfinished": ["new", "to it", "new", "new", unread],
  "failed, kept: nothing, 0 failures": ["new", "to it", "new", "new", unread],
  "failed, kept: nothing, 2 failures": ["new", starts, "new", "new", starts],
  "failed, kept: nothing, 3 failures": ["new", starts, "new", "new", starts],
  "failed, kept: push, 0 failures": ["to it", "to it", leaves, "to it", unread],
  "failed, kept: push, 2 failures": ["to it", "to it", leaves, "to it", unread],
  "failed, kept: push, 3 failures": ["to it", "to it", leaves, "to it", unread],
  // Its agent goes on from there, but not for ever.
  "failed, kept: unfinished, 0 failures": ["to it", "to it", "new", "to it", "to it"],
  "failed, kept: unfinished, 2 failures": ["to it", "to it", "new", "to it", "to it"],
  "failed, kept: unfinished, 3 failures": ["new", starts, "new", "new", starts],
  "archived, kept: nothing": ["new", "new", "new", "new", "new"],
  "archived, kept: push": ["to it", leaves, leaves, "to it", leaves],
  "archived, kept: unfinished": ["new", "new", "new", "new", "new"],
  "not found, kept: nothing": ["new", "new", "new", "new", "new"],
};
const nameOf = ({ status, kept = "nothing", failures }: Job): string =>
  `${status}, kept: ${kept}${failures === undefined ? "" : `, ${failures} failures`}`;

test.each(jobs.map((job) => ({ name: nameOf(job), job })))(
  "the next night goes on with the job of the last one, or starts another one, and says what it leaves: $name",
  async ({ name, job }) => {
    const cells: string[] = [];
    for (const pull of Object.keys(pulls) as (keyof typeof pulls)[]) cells.push(await nextNight(job, pull));
    expect(cells).toEqual(expected[name]);
  },
);
