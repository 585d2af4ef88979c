import { describe, expect, onTestFinished, test } from "vitest";
import { noContext } from "../../../src/model.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open-store.ts";
import { hostile } from "../../support/many-jobs.ts";
import { cookieIn, type PagesServerOptions, startPages } from "../../support/pages-server.ts";

const now = Date.UTC(2026, 10, 27, 23, 30);

/** Starts the pages for a key of the project `docs`, with a job of it by ada, and one of the project `secret` by eve. */
async function startTeam(options: PagesServerOptions = {}) {
  const store = openSqliteStore(":memory:");
  onTestFinished(() => store[Symbol.asyncDispose]());
  const add = async (id: string, project: string, prompt: string, asker: string) => {
    const asked = JSON.stringify({
      by: asker,
      in: `https://github.com/acme/${project}/issues/20`,
      run: "https://github.com/acme/docs/actions/runs/5",
    });
    const job = { id, project, createdAt: now, model: "claude-code" };
    await store.jobs.add(job, prompt, now, undefined, undefined, { ...noContext, asked, asker });
  };
  const run = async (costUsd: number) => {
    const turn = await store.runningTurns.startNext(undefined, now);
    if (turn === undefined) throw new Error("no turn is ready");
    await store.runningTurns.setReport(turn, { costUsd });
    return turn;
  };
  await add("job_1", "docs", `Fix the guide ${hostile}`, "ada");
  await store.runningTurns.finish(await run(0.5), "completed", now + 61_000);
  await add("job_2", "secret", "Launch the zeppelin", "eve");
  await store.runningTurns.finish(await run(777), "failed", now + 5000, { reason: "The zeppelin is on fire." });
  const pages = await startPages({ ...options, store });
  pages.machine.setWallTime(now);
  /** Returns what is in a page after its style sheet. */
  const read = async (path: string, cookie = pages.cookie) => {
    const { status, text } = await pages.ask(path, { headers: { cookie } });
    return { status, text: text.replace(/^.*<\/style>/s, "") };
  };
  return { ...pages, store, add, run, read };
}

describe("who has the key of one project", () => {
  const ofOthers = /eve|zeppelin|777|secret/i;

  test.each([
    "/",
    "/?q=zeppelin",
    "/?q=fire",
    "/?asker=eve",
    "/?state=failed",
    "/costs",
    "/settings",
    "/job/job_1",
    // No turn of this job.
    "/job/job_1/turn/2/log",
  ])("sees no asker, prompt, cost or sum of others on %s", async (path) => {
    const { read } = await startTeam();
    const { status, text } = await read(path);
    expect(status).toBe(200);
    // What was asked for is in the form.
    const given = /value="(zeppelin|eve)"( selected>eve)?/g;
    expect(text.replace(given, "")).not.toMatch(ofOthers);
  });

  test.each(["/?project=secret", "/job/job_2", "/job/job_2/patch", "/job/job_2/turn/2/log"])(
    "cannot open %s",
    async (path) => {
      const { read } = await startTeam();
      expect((await read(path)).status).toBe(404);
    },
  );

  test("is told of problems, but not which repository of others is away", async () => {
    const current = {
      model: { problem: "a model's API refuses the key of an agent" },
      repositories: { problem: "turns of secret wait for their repository; the log says why" },
    };
    const { text } = await (await startTeam({ problems: { current, awayProjects: ["secret"] } })).read("/");
    expect(text).toContain('role="status"><p>A model&#39;s API refuses the key of an agent.</p></div>');
    const { add, read } = await startTeam({ problems: { current, awayProjects: ["secret", "docs"] } });
    await add("job_3", "docs", "Wait", "ada");
    const away = (await read("/")).text;
    expect(away).toContain("<p>A repository cannot be used now. Its jobs wait until it can.</p>");
    expect(away).toContain("Waits for its repository, which cannot be used now.");
    expect(away).not.toMatch(ofOthers);
  });
});

describe("the list of jobs", () => {
  test("says who asked, where and in which run, what it took and what it cost", async () => {
    const { read } = await startTeam();
    const { text } = await read("/");
    expect(text).toContain('<a href="/?asker=ada">ada</a> in <a href="https://github.com/acme/docs/issues/20">#20</a>');
    expect(text).toContain('<a href="https://github.com/acme/docs/actions/runs/5">run</a>');
    expect(text).toContain("1 min 1 s</span> · <span");
    expect(text).toContain("$0.5000</span>");
    expect(text).not.toContain("<img");
  });

  test.each([
    ["?q=guide+fix", true],
    ["?q=unknown", false],
    ["?q=%21%21", false],
    ["?asker=ada&state=completed", true],
    ["?asker=bob", false],
    ["?from=2026-11-27&to=2026-11-27", true],
    ["?from=2026-11-28", false],
    ["?to=2026-11-26", false],
  ])("has an address for what is found: %s", async (query, isFound) => {
    const { read } = await startTeam();
    const { text } = await read(`/${query}`);
    expect(text.includes("/job/job_1")).toBe(isFound);
    if (!isFound) expect(text).toContain("There are no such jobs.");
  });

  test.each(["?from=today", "?to=2026-13-01", "?state=done", "?before=x"])("rejects %s", async (query) => {
    const { read } = await startTeam();
    expect((await read(`/${query}`)).status).toBe(400);
  });

  test("keeps what was chosen on the next page, and after signing in", async () => {
    const { read, add, ask } = await startTeam();
    for (let count = 0; count < 60; count++) await add(`more_${count}`, "docs", "Fix the guide again", "bob");
    const { text } = await read("/?q=guide&asker=bob");
    const next = /href="([^"]*)" rel="next"/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect(next).toMatch(/^\/\?q=guide&asker=bob&before=/);
    expect((await read(next)).text.match(/class="title"/g)).toHaveLength(10);
    const { headers } = await ask("/?q=guide&asker=bob");
    expect(headers.location).toBe("/sign-in?next=%2F%3Fq%3Dguide%26asker%3Dbob");
    const form = await ask(headers.location ?? "");
    expect(form.text).toContain('name="next" value="/?q=guide&amp;asker=bob"');
  });

  test("says what jobs wait for", async () => {
    const { read, add, run, store } = await startTeam();
    await add("job_3", "docs", "Wait for GitHub", "ada");
    await add("job_4", "docs", "Wait for an agent", "ada");
    await store.runningTurns.requeue(await run(0), 3_600_000, false, `GitHub limits the rate ${hostile}`);
    const { text } = await read("/");
    expect(text).toMatch(/Waits until <time datetime="[^"]*">[^<]* UTC<\/time>: GitHub limits the rate &lt;img/);
    expect(text).toContain("Waits for a free agent.");
    expect((await read("/job/job_4")).text).toContain("Waits for a free agent, after 1 other turn.");
  });
});

test("costs are added up by project and month, in cells that a spreadsheet takes as numbers", async () => {
  const { read } = await startTeam({ projects: ["docs", "secret"] });
  const { text } = await read("/costs");
  const row = (project: string, hours: string, cost: string) =>
    `<tr><td>2026-11</td><td>${project}</td><td>1</td><td>${hours}</td><td>${cost}</td><td>0</td></tr>`;
  expect(text).toContain(`${row("docs", "0.02", "0.50")}\n${row("secret", "0.00", "777.00")}`);
});

describe("the settings", () => {
  const own = { "sec-fetch-site": "same-origin" };

  test("are kept by the browser: who I am, and my time zone", async () => {
    const { read, submit, cookie } = await startTeam();
    expect((await read("/")).text).toContain('<a href="/settings">My jobs</a>');
    const { status, headers } = await submit({ me: "ada & co", zone: "Asia/Kolkata" }, { ...own, cookie }, "/settings");
    expect([status, headers.location]).toEqual([303, "/"]);
    const cookies = headers["set-cookie"]?.map((one) => one.split(";")[0]) ?? [];
    const { text } = await read("/", [cookie, ...cookies].join("; "));
    expect(text).toContain('<a href="/?asker=ada+%26+co">My jobs</a>');
    expect(text).toContain(">2026-11-28 05:00 GMT+5:30</time>");
    expect((await read("/?from=2026-11-28", [cookie, ...cookies].join("; "))).text).toContain("/job/job_1");
  });

  test.each([
    ["another site", { me: "eve", zone: "UTC" }, { "sec-fetch-site": "cross-site" }, 403],
    ["an unknown zone", { me: "ada", zone: "Mars/Olympus" }, own, 400],
  ])("are not changed by %s", async (_, fields, headers, status) => {
    const { submit, cookie } = await startTeam();
    const answer = await submit(fields, { ...headers, cookie }, "/settings");
    expect(answer.status).toBe(status);
    expect(cookieIn(answer.headers)).toBe("");
  });

  test("that are not valid count as none", async () => {
    const { read, cookie } = await startTeam();
    const broken = `${cookie}; agent-jobs-zone=%ff; agent-jobs-me=%3Cimg%20src%3Dx%3E`;
    const { text } = await read("/settings", broken);
    expect(text).toContain('value="&lt;img src=x&gt;"');
    expect(text).toContain('<option value="UTC" selected>UTC</option>');
  });
});

describe("the log of a turn", () => {
  test("tells the service from the agent, with times and an address for each line", async () => {
    const { read, logs } = await startTeam();
    logs.add("job_1", "[service] Turn 1 started.\n| one\n", 1);
    logs.add("job_1", `| ${hostile}\n| [service] not really\n`, 1);
    logs.add("job_1", "[service] Turn 9 started.\n", 9);
    const { text } = await read("/job/job_1/turn/1/log");
    expect(text).toContain('<li id="b0" class="note"><a href="#b0"><time');
    expect(text).toContain("<b>Service</b> Turn 1 started.</span>");
    expect(text).toContain('<li id="b26"><a href="#b26"><time datetime="1970-01-01T00:00:00.000Z"');
    expect(text).toContain(">00:00:01</time></a> <span>&lt;img");
    expect(text).toContain("<span>[service] not really</span>");
    expect(text).not.toContain("Turn 9");
    expect(text).not.toContain("\u202e");
    const other = await read("/job/job_1/turn/9/log");
    expect(other.text).toContain("Turn 9 started.");
    expect(other.text).not.toContain("Turn 1 started.");
  });

  test("is shown in parts, of which every line is in one", async () => {
    const { read, logs } = await startTeam();
    const lines = Array.from({ length: 50_000 }, (_, line) => `| ${line} ✓`);
    logs.add("job_1", "[service] Turn 5 started.\n", 5);
    logs.add("job_1", `${lines.join("\n")}\n| ${"w".repeat(200_000)}\n| end`, 1);
    const found: string[] = [];
    let parts = 0;
    for (let path: string | undefined = "/job/job_1/turn/1/log"; path !== undefined; parts++) {
      const { text } = await read(path);
      expect(text.match(/<li /g)?.length ?? 0).toBeLessThanOrEqual(2000);
      found.push(...[...text.matchAll(/<span>([^<]*)<\/span><\/li>/g)].map(([, line = ""]) => line));
      path = /href="([^"]*)" rel="next"/.exec(text)?.[1];
    }
    expect(found).toEqual([...lines.map((line) => line.slice(2)), "w".repeat(200_000), "end"]);
    expect(parts).toBeGreaterThan(10);
    // From the middle of a line on, the next one is the first.
    const middle = await read("/job/job_1/turn/1/log?from=31");
    expect(middle.text).toContain("<span>1 ✓</span>");
    expect(middle.text).not.toContain("<span>0 ✓</span>");
    // Backwards, from the end that each part names.
    const last = await read(/href="([^"]*)">End</.exec((await read("/job/job_1/turn/1/log")).text)?.[1] ?? "");
    expect(last.text).toContain("<span>end</span>");
    expect(last.text).not.toContain("Later");
    const back: string[] = [];
    for (let path: string | undefined = "/job/job_1/turn/1/log?before=400000"; path !== undefined; ) {
      const { text } = await read(path);
      const shown = [...text.matchAll(/<span>([^<]*)<\/span><\/li>/g)].map(([, line = ""]) => line);
      expect(shown.length).toBeLessThanOrEqual(2000);
      back.unshift(...shown);
      path = /href="([^"]*)" rel="prev"/.exec(text)?.[1];
    }
    expect(back.length).toBeGreaterThan(20_000);
    expect(back).toEqual(found.slice(0, back.length));
    expect((await read("/job/job_1/turn/1/log?from=999999999")).status).toBe(200);
    expect((await read("/job/job_1/turn/1/log?before=x")).status).toBe(400);
    expect((await read("/job/job_1/turn/1/log?from=-1")).status).toBe(400);
  });
});
