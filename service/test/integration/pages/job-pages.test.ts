import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import type { PageJob } from "../../../src/model.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { OutcomeUnknown, StoreUnavailable } from "../../../src/store-errors.ts";
import { hostileText } from "../../support/hostile-page-text.ts";
import { type PagesServerOptions, pageJob, pullRequest, startPages } from "../../support/pages-server.ts";

const path = "/job/job_1";
const minute = 60_000;
const createdAt = Date.UTC(2026, 0, 2, 3, 4);

/** Starts the pages with a store in memory. */
async function startList(options: PagesServerOptions = {}) {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const pages = await startPages({ projects: ["docs", "blog"], ...options, store });
  const add = async (id: string, { project = "docs", prompt = `Prompt of ${id}`, at = createdAt } = {}) => {
    const added = await store.jobs.add({ id, project, createdAt: at }, prompt, at);
    if (added !== undefined) throw new Error("the limit is used up");
  };
  /** Returns the ids of the jobs on a page of the list, and the address of the next one. */
  const list = async (address = "/") => {
    const { status, text } = await pages.get(address);
    expect(status).toBe(200);
    const ids = [...text.matchAll(/href="\/job\/([^"]+)"/g)].map(([, id]) => id);
    const next = /<a href="([^"]+)" rel="next">/.exec(text)?.[1]?.replaceAll("&amp;", "&");
    return { ids, next, text };
  };
  return { ...pages, store, add, list };
}

describe("the list of jobs", () => {
  test("shows of each job what it is about, how it is and where it led to, newest first", async () => {
    const { add, list, store } = await startList();
    expect((await list()).text).toContain("There are no jobs yet.");
    expect((await list("/?project=docs")).text).toContain("There are no such jobs.");
    await add("job_1", { prompt: "\nFix the guide\nand more" });
    await add("job_2", { project: "blog", at: createdAt + minute });
    await store.turns.add("job_1", "More", createdAt);
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    await store.runningTurns.setPullRequest(turn, "https://github.com/o/r/pull/12", "abc");
    await store.runningTurns.finish(turn, "completed", createdAt);
    const { ids, next, text } = await list();
    expect(ids).toEqual(["job_2", "job_1"]);
    expect(next).toBeUndefined();
    expect(text).toContain('<a class="title" href="/job/job_1">Fix the guide</a>');
    const first = text.slice(text.indexOf('href="/job/job_1"'));
    for (const part of [
      // Its second turn has not started.
      '<span class="state waiting">Waiting</span> docs',
      '<time datetime="2026-01-02T03:04:00.000Z">2026-01-02 03:04 UTC</time>',
      "2 turns",
      '<a href="https://github.com/o/r/pull/12">Pull request #12</a>',
    ])
      expect(first).toContain(part);
    expect(text).toContain("</span> blog · ");
    expect(text).toContain("1 turn<");
  });

  test("links the page of a pull request, wherever the service was when it was made", async () => {
    const { add, list, store } = await startList();
    await add("job_1");
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    const number = await store.pullRequests.add(pullRequest());
    await store.runningTurns.setPullRequest(turn, `http://127.0.0.1:1/pull/${number}`, "222");
    expect((await list()).text).toContain(`<a href="/pull/${number}">Pull request #${number}</a>`);
  });

  test("has 50 jobs on a page, and each job once, although others are added meanwhile", async () => {
    const { add, list } = await startList();
    // Three of the same moment each, and in projects by turns.
    const of = (index: number) => ({ at: createdAt + Math.floor(index / 3), project: index % 2 ? "docs" : "blog" });
    for (let index = 0; index < 120; index++) await add(`job_${index}`, of(index));
    const seen: (string | undefined)[] = [];
    for (let address: string | undefined = "/", page = 0; address !== undefined; page++) {
      const { ids, next } = await list(address);
      expect(ids).toHaveLength([50, 50, 20][page] ?? 0);
      seen.push(...ids);
      address = next;
      await add(`new_${page}`, { at: createdAt + 1000 + page });
    }
    expect(new Set(seen).size).toBe(120);
    expect(seen.every((id) => id?.startsWith("job_"))).toBe(true);
    expect((await list()).ids.slice(0, 3)).toEqual(["new_2", "new_1", "new_0"]);
  });

  test("is exactly one page with 50 jobs", async () => {
    const { add, list } = await startList();
    for (let index = 0; index < 50; index++) await add(`job_${index}`, { at: createdAt + index });
    expect(await list()).toMatchObject({ next: undefined, ids: { length: 50 } });
    expect((await list()).text).not.toContain('<nav class="paging"');
    await add("job_50", { at: createdAt + 50 });
    const { next = "" } = await list();
    const last = await list(next);
    expect(last).toMatchObject({ next: undefined, ids: ["job_0"] });
    expect(last.text).toContain("Newest jobs");
  });

  test("is filtered by project and state, also on the next page", async () => {
    const { add, list, store } = await startList();
    for (let index = 0; index < 60; index++) await add(`docs_${index}`, { at: createdAt + index });
    await add("blog_1", { project: "blog" });
    const { ids, next = "", text } = await list("/?project=docs&state=active");
    expect(ids).toHaveLength(50);
    expect(next).toMatch(/^\/\?project=docs&state=active&before=/);
    expect(text.match(/ selected/g)).toHaveLength(2);
    expect(text).toContain('<option value="docs" selected>docs</option>');
    expect(text).toContain('<option value="active" selected>Active</option>');
    expect((await list(next)).ids).toEqual(Array.from({ length: 10 }, (_, index) => `docs_${9 - index}`));
    expect((await list("/?project=blog&state=")).ids).toEqual(["blog_1"]);
    expect((await list("/?state=failed")).text).toContain("There are no such jobs.");
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    await store.runningTurns.finish(turn, "failed", createdAt);
    expect((await list("/?state=failed")).ids).toEqual([turn.job]);
  });

  test("tells waiting jobs from running ones, and why one failed from one that somebody stopped", async () => {
    const { add, list, store } = await startList();
    for (const id of ["job_1", "job_2", "job_3", "job_4"]) await add(id);
    const ends: [string, string][] = [
      ["failed", "The agent failed."],
      ["failed", "Stopped by an operator (me)."],
    ];
    for (const [, reason] of ends) {
      const turn = await store.runningTurns.startNext();
      if (turn === undefined) throw new Error("no turn is ready");
      await store.runningTurns.finish(turn, "failed", createdAt, { reason: reason });
    }
    await store.runningTurns.startNext();
    const { text } = await list();
    // While something can change, a browser loads it again.
    expect(text).toContain('<meta http-equiv="refresh" content="30">');
    const shown = [...text.matchAll(/<span class="state (\w+)">(\w+)<\/span>/g)].map(
      ([, style, name]) => `${style} ${name}`,
    );
    expect(shown).toEqual(["waiting Waiting", "active Active", "stopped Stopped", "failed Failed"]);
    expect(text).toContain('<p class="quiet">The agent failed.</p>');
    expect((await list("/?state=failed")).text).not.toContain("http-equiv");
  });

  test("reads each prompt once", async () => {
    const { add, list, store } = await startList();
    let reads = 0;
    const { turnExcerpt } = store.lists;
    store.lists.turnExcerpt = (...read) => {
      reads++;
      return turnExcerpt.apply(store.lists, read);
    };
    await add("job_1");
    for (let times = 0; times < 2; times++) expect((await list()).text).toContain(">Prompt of job_1</a>");
    expect(reads).toBe(1);
  });

  test("names a job whose prompt is deleted meanwhile by its id", async () => {
    const { add, list, store } = await startList();
    await add("job_1");
    store.lists.turnExcerpt = async () => undefined;
    expect((await list()).text).toContain(">job_1</a>");
    const jobs = await store.lists.jobs({ projects: ["docs"], limit: 1 });
    store.lists.jobs = async () => jobs.map((job) => ({ ...job, firstTurn: null, lastTurn: null }));
    expect((await list()).text).toContain(">job_1</a>");
  });

  test("has no choice of projects if there is only one", async () => {
    const { list } = await startList({ projects: ["docs"] });
    expect((await list()).text).not.toContain('name="project"');
  });

  test("shows nothing of other projects", async () => {
    const { add, list, get } = await startList({ projects: ["docs"] });
    await add("job_1", { project: "secret", prompt: "Secret prompt" });
    await add("job_2");
    for (const address of ["/", "/?state=active", "/?project=docs"]) {
      const { ids, text } = await list(address);
      expect(ids).toEqual(["job_2"]);
      expect(text).not.toMatch(/secret/i);
    }
    expect(await get("/?project=secret")).toMatchObject({ status: 404 });
  });

  test("says what is wrong with an address", async () => {
    const { get } = await startList();
    for (const query of ["state=x", "state=toString", "before=x", "before=1-", "before=1-a%20b", "before=-1-a"])
      expect((await get(`/?${query}`)).status).toBe(400);
  });
});

describe("the page of a job", () => {
  test("shows a turn that somebody stopped as stopped, and for how long one has been running", async () => {
    const { get, turns } = await startPages();
    turns.push({
      state: "failed",
      prompt: "A",
      startedAt: createdAt,
      endedAt: createdAt + 1000,
      reason: "Stopped by an operator (me).",
    });
    turns.push({ state: "running", prompt: "B", startedAt: createdAt });
    const { text } = await get(path);
    expect(text).toContain('<span class="quiet">Stopped in 1 s</span>');
    expect(text).toContain('<p class="quiet">Stopped by an operator (me).</p>');
    expect(text).toContain(`<span data-since="${createdAt}"></span>`);
  });

  test.each([
    ["pull-request", "git fetch docs docs/bot-1 &amp;&amp; git switch --detach FETCH_HEAD</pre>"],
    ["push", "The commit of the last turn is kept by the service"],
    ["unfinished", "What the agent changed in the last turn is kept by the service, and not published."],
  ] as const)("says how to get work that is kept: %s", async (kept, text) => {
    const { get, jobs } = await startPages();
    expect((await get("/job/job_1")).text).not.toContain("kept");
    jobs.set("job_1", { state: "failed", kept, branch: "docs/bot-1" });
    expect((await get("/job/job_1")).text).toContain(text);
  });

  test("shows its turns, its log and its pull requests", async () => {
    const { get, jobs, turns, logs, rows } = await startPages();
    rows.set(2, { ...pullRequest(), title: "Second" });
    jobs.set("job_1", { pullRequest: "http://127.0.0.1/pull/2", archivedAt: createdAt + minute });
    const failed = { startedAt: createdAt, endedAt: createdAt + 62_000, reason: "It has no commit." };
    turns.push({ state: "failed", prompt: "Second", answer: "I cannot.", ...failed });
    turns.push({ state: "running", prompt: "Third", startedAt: createdAt });
    turns.push({ state: "waiting", prompt: "Fourth" });
    logs.add("job_1", "| One\n| Two\n");
    const { status, text } = await get(path);
    expect(status).toBe(200);
    for (const part of [
      "<title>Fix it · Job</title>",
      "<h1>Fix it</h1>",
      'data-progress="{&quot;state&quot;:&quot;completed&quot;,&quot;turns&quot;:4,&quot;running&quot;:2}"',
      '<p id="status" role="status"><span class="state archived">Archived</span></p>',
      'docs · created <time datetime="2026-01-02T03:04:00.000Z">',
      "test-model · archived <time",
      '<p><a href="/pull/2">Pull request #2</a></p>',
      '<p>Earlier pull requests: <a href="/pull/1">#1</a></p>',
      "<details><summary><strong>Turn 0</strong> Fix it",
      '<span class="minus">Failed in 1 min 2 s</span>',
      '<p class="minus">It has no commit.</p>',
      "<pre>\nI cannot.</pre>",
      '<span class="running">Running</span> <span class="quiet">since <time',
      '<details open><summary><strong>Turn 3</strong> Fourth <span class="quiet">Waiting</span>',
      'data-position="12">\n| One\n| Two\n</pre>',
      '<a href="/job/job_1/log">',
    ])
      expect(text).toContain(part);
  });

  test("says nothing of what there is not", async () => {
    const { get, turns, rows, logs } = await startPages();
    turns.length = 0;
    turns.push({ state: "running", prompt: "x" }, { state: "failed", prompt: "y", startedAt: createdAt });
    rows.clear();
    logs.add("job_1", "| One\n");
    const { status, text } = await get(path);
    expect(status).toBe(200);
    expect(text).not.toMatch(/archived <|pull request|since|Failed in|Last message/i);
    expect(text).toContain('<span id="cut" hidden>');
  });

  test("of a job without turns is named after its project", async () => {
    const { get, turns } = await startPages();
    turns.length = 0;
    expect((await get(path)).text).toContain("<h1>Job of docs</h1>");
    turns.push(undefined);
    expect((await get(path)).text).toContain("<h1>Job of docs</h1>");
  });

  test("shows the end of a long log, from the beginning of a line", async () => {
    const { get, logs } = await startPages();
    const lines = Array.from({ length: 10_000 }, (_, line) => `| line ${line} ✓\n`).join("");
    logs.add("job_1", lines);
    const { text } = await get(path);
    const shown = /<pre id="log"[^>]*>\n([^<]*)<\/pre>/.exec(text)?.[1] ?? "";
    expect(lines.endsWith(shown)).toBe(true);
    expect(shown).toMatch(/^\| line \d+ ✓\n/);
    expect(Buffer.byteLength(shown)).toBeGreaterThan(60_000);
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(64 * 1024);
    expect(text).toContain(`data-position="${Buffer.byteLength(lines)}"`);
    expect(text).toContain('<span id="cut">');
  });

  test("is not held up by an agent that prints faster than its log is read", async () => {
    const { get, logs } = await startPages();
    logs.gate = async () => logs.add("job_1", "x".repeat(1000));
    expect((await get(path)).status).toBe(200);
  });

  test("runs the script of the service, and nothing else", async () => {
    const { ask, get } = await startPages();
    const { headers, text } = await get(path);
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'unsafe-inline'; form-action 'self'; " +
        "base-uri 'none'; frame-ancestors 'none'",
    );
    const address = /<script type="module" src="([^"]+)">/.exec(text)?.[1] ?? "";
    expect(text.match(/<script/g)).toHaveLength(1);
    const script = await ask(address);
    expect(script.status).toBe(200);
    expect(script.headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "cache-control": "public, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
    });
    expect(script.text).toContain("EventSource");
  });

  test("is where signing in leads to, if it was asked for", async () => {
    const { ask, submit } = await startPages();
    expect((await ask(path)).headers.location).toBe("/sign-in?next=%2Fjob%2Fjob_1");
    expect((await submit({ key: serviceKey, next: path })).headers.location).toBe(path);
  });

  test("is not found if there is no such job, or it is of another project", async () => {
    const { get, ask, jobs, rows, submit, cookie, messages } = await startPages();
    jobs.set("other", { project: "secret" });
    rows.set(7, { ...pullRequest(), job: "other" });
    rows.set(8, { ...pullRequest(), job: "deleted" });
    const headers = { authorization: `Bearer ${serviceKey}` };
    for (const id of ["other", "unknown"]) {
      for (const page of ["", "/log", "/events"]) expect((await get(`/job/${id}${page}`)).status).toBe(404);
      for (const page of ["/log", "/events"]) expect((await ask(`/job/${id}${page}`, { headers })).status).toBe(404);
      const sent = await submit({ prompt: "x", form: "a".repeat(43) }, { cookie }, `/job/${id}/message`);
      expect(sent).toMatchObject({ status: 404, text: expect.stringContaining("Job not found") });
    }
    for (const number of [7, 8, 9]) expect((await get(`/pull/${number}`)).status).toBe(404);
    expect(messages).toEqual([]);
  });

  test.each(["GET", "POST"])("answers another method than those of its routes, such as %s", async (method) => {
    const { get } = await startPages();
    const [address, allow] = method === "GET" ? [`${path}/message`, "POST"] : [path, "GET, HEAD"];
    expect(await get(address, method)).toMatchObject({ status: 405, headers: { allow } });
  });
});

describe("text that others wrote", () => {
  test("is text on every page, in whatever field it is", async () => {
    const { get, add, store } = await startList({ projects: ["docs", hostileText] });
    await add("job_1", { project: hostileText, prompt: `1${hostileText}` });
    const turn = await store.runningTurns.startNext();
    if (turn === undefined) throw new Error("no turn is ready");
    await store.runningTurns.setReport(turn, { answer: `2${hostileText}` });
    const number = await store.pullRequests.add({ ...pullRequest(), title: hostileText, branch: hostileText });
    await store.runningTurns.setPullRequest(turn, `https://example.com/${hostileText}`, "222");
    await store.runningTurns.finish(turn, "failed", createdAt, { reason: `3${hostileText}` });
    const filtered = `/?${new URLSearchParams({ project: hostileText })}`;
    for (const address of ["/", filtered, path, `/pull/${number}`]) {
      const { status, text } = await get(address);
      expect(status).toBe(200);
      expectInert(text);
    }
    const { text } = await get(path);
    for (const digit of ["1", "2", "3"]) expect(text).toContain(`${digit}&quot;&#39;`);
  });

  test("is text in the log and in a message that is not sent", async () => {
    const { get, logs, submit, cookie } = await startPages();
    logs.add("job_1", `| ${hostileText}\n`);
    expectInert((await get(path)).text);
    const sent = await submit({ prompt: hostileText }, { cookie }, `${path}/message`);
    expect(sent.status).toBe(409);
    expectInert(sent.text);
    const signedOut = await submit({ prompt: hostileText }, {}, `${path}/message`);
    expect(signedOut.status).toBe(401);
    expectInert(signedOut.text);
  });
});

/** Checks that a page has no tag, attribute or link that hostile text tries to add. */
function expectInert(page: string): void {
  expect(page).toContain("&quot;&#39;&gt;&lt;");
  expect(page).not.toMatch(/<(img|svg|iframe|\/?textarea[^>]*on)/);
  expect(page).not.toMatch(/<script(?! type="module" src="\/assets\/job-page\.js\?v=[\w-]+"><\/script>)/);
  expect(page.replace(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\son\w+=/);
  // A browser sends back the value of a field as it is.
  expect(page.replace(/<textarea.*?<\/textarea>|<option value="[^"]*"/gs, "")).not.toContain("\u202e");
}

describe("a message", () => {
  async function openForm(job: Partial<PageJob> = {}, options: PagesServerOptions = {}) {
    const pages = await startPages(options);
    pages.jobs.set("job_1", job);
    const { text } = await pages.get(path);
    const formIn = (page: string) => /name="form" value="([\w-]{43})"/.exec(page)?.[1] ?? "";
    const send = (prompt: string, form: string, headers: Record<string, string> = {}) =>
      pages.submit({ prompt, form }, { cookie: pages.cookie, ...headers }, `${path}/message`);
    return { ...pages, form: formIn(text), formIn, send };
  }

  test("is sent to the engine, and leads back to the job", async () => {
    const { send, form, messages, askers } = await openForm();
    const sent = await send("First line\r\nSecond <line>\u202e\rThird", form);
    expect(sent).toMatchObject({ status: 303, headers: { location: path }, text: "" });
    expect(messages).toEqual(["docs job_1 First line\nSecond <line>\u202e\nThird"]);
    expect(askers).toEqual(["API key"]);
  });

  test("is sent once by a form, also by two submissions at the same time", async () => {
    const { send, form, formIn, messages, machine } = await openForm();
    const statuses = (await Promise.all([send("Once", form), send("Once", form)])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([303, 409]);
    for (const other of ["", "x", `${form}x`, `!${form.slice(1)}`])
      expect((await send("Once", other)).status).toBe(409);
    machine.pass(11 * 60 * minute);
    const again = await send("Edited\n", form);
    expect(again.status).toBe(409);
    expect(again.text).toContain("This form was sent before.");
    expect(again.text).toContain(">\nEdited\n</textarea>");
    expect(messages).toEqual(["docs job_1 Once"]);
    expect((await send("Edited", formIn(again.text))).status).toBe(303);
    expect(messages).toHaveLength(2);
  });

  test("is not sent if it is empty", async () => {
    const { send, form, messages } = await openForm();
    for (const text of ["", " \r\n\t"]) {
      const sent = await send(text, form);
      expect(sent.status).toBe(400);
      expect(sent.text).toContain('<p class="minus" role="alert">The message is empty.</p>');
    }
    expect(messages).toEqual([]);
  });

  test("beyond the hourly limit is not sent, and the page has its text and says when it can be", async () => {
    const { send, form, formIn, engine } = await openForm();
    engine.message = async () => ({ retryAfterMs: 62_500 });
    const sent = await send("Later", form);
    expect(sent).toMatchObject({ status: 429, headers: { "retry-after": "63" } });
    expect(sent.text).toContain("The project has used up its messages of this hour. Send it again in 1 min 3 s.");
    expect(sent.text).toContain(">\nLater</textarea>");
    expect(sent.headers["content-security-policy"]).toContain("script-src 'self'");
    engine.message = async () => ({}) as never;
    expect((await send("Later", formIn(sent.text))).status).toBe(303);
  });

  test("that cannot be stored is not lost", async () => {
    const { send, form, engine, log } = await openForm();
    engine.message = () => Promise.reject(new StoreUnavailable("the disk is full"));
    const sent = await send("Keep <me>", form);
    expect(sent.status).toBe(503);
    expect(sent.text).toContain("The message was not sent.");
    expect(sent.text).toContain("<pre>\nKeep &lt;me&gt;</pre>");
    expect(log).toEqual([]);
  });

  test("of which nobody knows whether it was stored is not called lost", async () => {
    const { send, form, engine, log } = await openForm();
    engine.message = () => Promise.reject(new OutcomeUnknown("the connection was lost"));
    const sent = await send("Keep me", form);
    expect(sent.status).toBe(500);
    expect(sent.text).toContain("It is unknown whether the message was sent.");
    expect(sent.text).toContain("<pre>\nKeep me</pre>");
    expect(log).toEqual([]);
  });

  test("of somebody whose session has ended is not sent, and not lost", async () => {
    const { send, form, machine, messages } = await openForm();
    machine.pass(13 * 60 * minute);
    const sent = await send("Keep me", form);
    expect(sent.status).toBe(401);
    expect(sent.text).toContain("Your session has ended.");
    expect(sent.text).toContain("<pre>\nKeep me</pre>");
    expect(messages).toEqual([]);
  });

  test("is not found if the job is deleted meanwhile", async () => {
    const { send, form, engine } = await openForm();
    engine.message = async () => undefined;
    expect((await send("Late", form)).status).toBe(404);
  });

  test("is accepted only from the service's own pages, and as a form of at most 1 MiB", async () => {
    const { send, form, ask, cookie, messages } = await openForm();
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
    ])
      expect((await send("Evil", form, headers)).status).toBe(403);
    const json = { cookie, "content-type": "application/json" };
    expect((await ask(`${path}/message`, { method: "POST", headers: json, body: "{}" })).status).toBe(400);
    expect((await send("x".repeat(1024 * 1024), form)).status).toBe(413);
    // The key is for the API.
    const bearer = { cookie: "", authorization: `Bearer ${serviceKey}` };
    expect((await send("Evil", form, bearer)).status).toBe(401);
    expect(messages).toEqual([]);
  });

  test("is answered however many connections are opened meanwhile", async () => {
    const { send, form, engine, url } = await openForm({}, { maxConnections: 2 });
    const [gate, sending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    engine.message = async () => {
      sending.resolve();
      await gate.promise;
      return {} as never;
    };
    const sent = send("Keep on", form);
    await sending.promise;
    // One connection after the other: each can only be answered if another one is closed.
    for (let connection = 0; connection < 3; connection++) {
      const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
      onTestFinished(() => void socket.destroy());
      socket.write("GET /v2/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await once(socket, "data");
    }
    gate.resolve();
    expect((await sent).status).toBe(303);
  });

  test("can be sent to an archived job", async () => {
    const { send, form, messages } = await openForm({ archivedAt: pageJob().createdAt });
    expect((await send("Go on", form)).status).toBe(303);
    expect(messages).toHaveLength(1);
  });

  test("arrives while others, who are not signed in, send as much as they can", async () => {
    const { send, form, url, messages } = await openForm();
    const headers = { "content-type": "application/x-www-form-urlencoded", "content-length": "1048576" };
    const statuses: (number | undefined)[] = [];
    for (let other = 0; other < 9; other++) {
      const request = httpRequest(`${url}${path}/message`, { method: "POST", headers, agent: false });
      onTestFinished(() => void request.destroy());
      request.on("error", () => {}).on("response", ({ statusCode }) => statuses.push(statusCode));
      request.write("prompt=x");
    }
    await expect.poll(() => statuses).toEqual([503, 503, 503, 503, 503]);
    expect((await send("Now", form)).status).toBe(303);
    expect(messages).toHaveLength(1);
  });
});
