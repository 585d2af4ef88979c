import { describe, expect, test } from "vitest";
import { type CommentOptions, runComment } from "../../../support/comment-run.ts";
import { FakeGitHub } from "../../../support/fake-github.ts";
import type { Exchange, SeenRequest } from "../../../support/fake-transport.ts";
import { prLink, record, respondWith } from "../../../support/run-main.ts";
import { earlierReply, ownReply, threadWith } from "../../../support/thread.ts";

const page = { link: '</jobs/1>; rel="alternate"; type="text/html"' };

/** A service whose job ends after ten minutes, and whose records depend on the seconds that have passed. */
function tenMinutes(poll: (seconds: number) => { fields?: Record<string, unknown>; headers?: Record<string, string> }) {
  return ({ method, at }: SeenRequest): Exchange => {
    if (method === "POST") return respondWith(201, record());
    const { fields = {}, headers = {} } = poll(at / 1000);
    return respondWith(200, record({ status: at < 600_000 ? "active" : "failed", ...fields }), headers);
  };
}

/** Runs the step, and returns the texts of the reply with the second in which each was written. */
async function repliesOf(github: FakeGitHub, options: CommentOptions): Promise<[number, string][]> {
  const written: [number, string][] = [];
  await runComment(github, {
    ...options,
    onClock: (clock) => {
      const before = github.fault;
      github.fault = (call) => {
        const { route, parameters } = call;
        if (/^(POST|PATCH) /.test(route) && typeof parameters.body === "string") {
          written.push([clock.elapsedMs / 1000, parameters.body.replace(/^<!-- \S+ -->\n/, "").split("\n")[0] ?? ""]);
        }
        return before(call);
      };
    },
  });
  return written;
}

const run = '<a href="https://github.com/acme/docs/actions/runs/99">Follow the run</a>';
const sending = `<p>⏳ <b>Sending the request to the agent.</b> ${run}.</p>`;
const working = (links = run) =>
  `<p>⏳ <b>The agent has been working on it since 2026-01-01 00:00 UTC.</b> ${links}.</p>`;
const pageLink = '<a href="https://api.mintlify.com/jobs/1">Job page</a>';
const pullLink = `<a href="${prLink}">Pull request 7</a>`;

describe("while the job runs, the reply", () => {
  test("says since when, and is not edited if nothing changes", async () => {
    const written = await repliesOf(new FakeGitHub(), { respond: tenMinutes(() => ({})) });
    expect(written.slice(0, -1)).toEqual([
      [0, sending],
      [0, working()],
    ]);
    expect(written).toHaveLength(3);
    expect(written.at(-1)?.[1]).toContain("Job failed");
  });

  test("links the job's page and the pull request, with at most one edit a minute", async () => {
    const respond = tenMinutes((seconds) => ({
      headers: page,
      fields: { prLink: seconds > 62 ? prLink : null },
    }));
    const written = await repliesOf(new FakeGitHub(), { respond });
    const [, , third, fourth] = written;
    expect(third?.[1]).toBe(working(`${run} · ${pageLink}`));
    expect(fourth?.[1]).toBe(working(`${run} · ${pageLink} · ${pullLink}`));
    expect(third?.[0]).toBeGreaterThanOrEqual(60);
    expect((fourth?.[0] ?? 0) - (third?.[0] ?? 0)).toBeGreaterThanOrEqual(60);
    expect(written).toHaveLength(5);
  });

  test("is edited at most once a minute by a service that changes its mind at every poll", async () => {
    const respond = tenMinutes((seconds) => ({ fields: { prLink: `${prLink}?${seconds}` } }));
    const written = await repliesOf(new FakeGitHub(), { respond });
    const edits = written.slice(1, -1).map(([at]) => at);
    for (const [index, at] of edits.entries()) {
      if (index > 0) expect(Math.round(at - (edits[index - 1] ?? 0))).toBeGreaterThanOrEqual(60);
    }
    expect(edits.length).toBeGreaterThan(5);
  });

  test("keeps its marker", async () => {
    const github = new FakeGitHub();
    const bodies: string[] = [];
    github.fault = ({ route, parameters }) => {
      if (route.startsWith("PATCH")) bodies.push(String(parameters.body));
    };
    await runComment(github, { respond: tenMinutes(() => ({ headers: page })) });
    expect(bodies.length).toBe(3);
    for (const body of bodies) expect(body.split("\n").at(-1)).toMatch(/ job=job_1 comment=77 step=[0-9a-f]{32} -->$/);
  });

  test("says since when a message was accepted, not the job", async () => {
    const github = threadWith(earlierReply("job_1"));
    const respond = (request: SeenRequest): Exchange =>
      request.method === "POST" && request.at < 120_000
        ? respondWith(429, "", { "retry-after": "120" })
        : tenMinutes(() => ({}))(request);
    const written = await repliesOf(github, { respond });
    expect(written[1]?.[1]).toContain("since 2026-01-01 00:02 UTC.");
  });

  test("of a re-run does not say since when, because that is unknown", async () => {
    const written = await repliesOf(threadWith(ownReply("job_1")), {
      attempt: 2,
      respond: tenMinutes(() => ({ headers: page })),
    });
    expect(written[0]?.[1]).toBe(`<p>⏳ <b>The agent is working on it.</b> ${run} · ${pageLink}.</p>`);
  });
});

describe("an edit that fails while the job runs", () => {
  const respond = tenMinutes(() => ({ headers: page }));

  function failing(): FakeGitHub {
    const github = new FakeGitHub();
    let edits = 0;
    github.fault = ({ route }) => {
      if (route.startsWith("PATCH") && ++edits === 2) throw new Error("Server Error");
    };
    return github;
  }

  test("is the one warning, is not repeated, and the result is still shown", async () => {
    const github = failing();
    const { toolkit } = await runComment(github, { respond });
    expect(github.routes("PATCH")).toHaveLength(3);
    expect(toolkit.annotations.filter(({ level }) => level === "warning")).toHaveLength(1);
    expect(github.reply).toContain("Job failed");
  });

  test("leaves the marker as it was, so a re-run finds the job, which the annotation says", async () => {
    const { toolkit } = await runComment(failing(), { respond, inputs: { "timeout-minutes": "3" } });
    expect(toolkit.annotations.at(-1)?.text).toContain("re-run this workflow run: nothing is sent again.");
  });
});

test("only the last edit follows a signal", async () => {
  const respond = tenMinutes((seconds) => ({ fields: { prLink: `${prLink}?${seconds}` } }));
  const written = await repliesOf(new FakeGitHub(), { respond, cancelAt: 100_000 });
  const after = written.filter(([at]) => at >= 100);
  expect(after).toHaveLength(1);
  expect(after[0]?.[1]).toContain("Cancelled");
});
