import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { pullRequest, startPages } from "../../support/pages-server.ts";

describe("the page of a pull request", () => {
  test("shows what is stored and what Git says", async () => {
    const { get, log } = await startPages();
    const { status, text } = await get("/pull/1");
    expect(status).toBe(200);
    for (const part of [
      "<title>Fix &lt;it&gt; · Pull request 1</title>",
      '<a href="/settings">Settings</a> <span class="quiet">docs</span></nav>',
      '<span class="state open">Open</span>',
      "merge <code>agent/job_1</code> into <code>main</code>",
      '<details><summary><strong>Turn 0</strong> Fix it <span class="quiet">Completed</span></summary>',
      "<h2>1 commit</h2>",
      "<code>111..222</code> Fix",
      "1 file changed",
      "<code>a.md</code>",
    ])
      expect(text).toContain(part);
    expect(text).not.toMatch(/too large|only the|http-equiv/);
    expect(log).toEqual([]);
  });

  test("is the same with a query", async () => {
    const { get } = await startPages();
    expect(await get("/pull/1?x=/")).toMatchObject({ status: 200, text: (await get("/pull/1")).text });
  });

  test("is not found if there is no such pull request", async () => {
    const { get } = await startPages();
    for (const path of ["/pull/2", "/pull/123456789"]) {
      const { status, text } = await get(path);
      expect(status).toBe(404);
      expect(text).toContain("Pull request not found");
    }
  });

  test("is shown without a state if that cannot be read, which is logged once", async () => {
    const { get, state, log } = await startPages();
    state.read = async () => {
      throw new Error("no such branch");
    };
    for (let request = 0; request < 2; request++) {
      const { status, text } = await get("/pull/1");
      expect(status).toBe(200);
      expect(text).not.toContain('class="state');
    }
    expect(log).toEqual(["Cannot read the state of /pull/1, treated as open: no such branch"]);
  });

  test("is an error if Git fails, which is logged with its stack, and is rendered again then", async () => {
    const { get, repository, log } = await startPages();
    repository.diffError = new Error("Git is gone");
    const { status, text } = await get("/pull/1?x");
    expect(status).toBe(500);
    expect(text).toContain("Internal error: see the log of the service");
    expect(log).toEqual([expect.stringMatching(/^GET \/pull\/1: Error: Git is gone\n +at /)]);
    repository.diffError = undefined;
    expect((await get("/pull/1")).status).toBe(200);
  });

  test("shows the state and the turns as they are now, and reads the changes of a commit only once", async () => {
    const { get, rows, state, turns, repository } = await startPages();
    await get("/pull/1");
    state.read = async () => "merged";
    turns.push({ state: "failed", prompt: "More", answer: "I cannot" });
    const { text } = await get("/pull/1");
    expect(text).toContain(">Merged<");
    expect(text).toContain('<summary><strong>Turn 1</strong> More <span class="minus">Failed</span></summary>');
    expect(text).toContain("<pre>\nI cannot</pre>");
    expect(repository.reads).toEqual(["111..222"]);
    rows.set(1, pullRequest("333"));
    expect((await get("/pull/1")).text).toContain("111..333");
    expect(repository.reads).toEqual(["111..222", "111..333"]);
  });

  test("shows the beginning of a diff with too many bytes or lines", async () => {
    const { get, rows, repository } = await startPages();
    const show = async (number: number, diff: string) => {
      rows.set(number, pullRequest(`head-${number}`));
      repository.diffText = diff;
      return (await get(`/pull/${number}`)).text;
    };
    const start = "diff --git a/a.md b/a.md\n@@ -0,0 +1,60000 @@\n";
    expect(await show(1, start + "+".repeat(499_999 - start.length))).not.toContain("too large");
    expect(await show(2, start + "+".repeat(500_000 - start.length))).toContain("too large");
    expect(await show(3, `${start}${"+x\n".repeat(19_998)}`)).not.toContain("too large");
    repository.changedPaths = ["a.md", "b.md"];
    const cut = await show(4, `${start}${"+x\n".repeat(19_999)}`);
    expect(cut).toContain("too large");
    expect(cut).toContain('<span class="plus">+19998</span>');
    expect(cut).toContain("<summary>1 file left out</summary><ul><li><code>b.md</code></li></ul>");
  });

  test("shows the beginning of long prompts, answers and subjects", async () => {
    const { get, turns, repository } = await startPages();
    turns.push({ state: "completed", prompt: `p${"x".repeat(9999)}`, answer: `a${"y".repeat(10_000)}` });
    repository.subject = `s${"z".repeat(200)}`;
    const { text } = await get("/pull/1");
    expect(text).toContain(`Prompt\n<pre>\np${"x".repeat(9999)}</pre>`);
    const notice = '<span class="quiet">(only the beginning)</span>';
    expect(text).toContain(`Last message of the agent ${notice}\n<pre>\na${"y".repeat(9999)}</pre>`);
    expect(text).toContain(` s${"z".repeat(199)}</li>`);
  });

  test("shows the last turns and commits of many", async () => {
    const { get, turns, repository } = await startPages();
    turns.length = 0;
    for (let turn = 1; turn <= 51; turn++) turns.push({ state: "completed", prompt: `Turn ${turn}.`, answer: null });
    repository.commitCount = 101;
    const { text } = await get("/pull/1");
    expect(text).toContain("Only the last 50 of 51 turns are shown.");
    expect(text).toContain('<ol><li id="turn-1"><details><summary><strong>Turn 1</strong> Turn 2. ');
    expect(text).toContain("Turn 51.");
    expect(text).not.toContain("Turn 1.");
    expect(text).toContain("<h2>Last 100 commits</h2>");
    expect(text.match(/<code>111\.\.222/g)).toHaveLength(100);
  });

  test("shows 50 turns and 100 commits as all that there are", async () => {
    const { get, turns, repository } = await startPages();
    for (let turn = 2; turn <= 50; turn++) turns.push({ state: "completed", prompt: "More", answer: null });
    repository.commitCount = 100;
    const { text } = await get("/pull/1");
    expect(text).not.toContain("Only the last");
    expect(text).toContain("<h2>100 commits</h2>");
  });

  test("leaves out a turn that is deleted meanwhile", async () => {
    const { get, turns } = await startPages();
    turns.unshift(undefined);
    const { status, text } = await get("/pull/1");
    expect(status).toBe(200);
    expect(text.match(/<summary><strong>/g)).toHaveLength(1);
  });

  test("is sent however many connections are opened while it is rendered", async () => {
    const { get, repository, url } = await startPages({ maxConnections: 2 });
    const gate = Promise.withResolvers<void>();
    repository.gate = gate.promise;
    const page = get("/pull/1");
    await waitUntil(() => repository.reads.length > 0);
    // One connection after the other: each can only be answered if another one is closed.
    for (let connection = 0; connection < 3; connection++) {
      const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
      onTestFinished(() => void socket.destroy());
      socket.write("GET /v2/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await once(socket, "data");
    }
    gate.resolve();
    expect((await page).status).toBe(200);
  });

  test("is rendered once for all who ask for it at the same time", async () => {
    const { get, repository, received } = await startPages();
    const gate = Promise.withResolvers<void>();
    repository.gate = gate.promise;
    const requests = Array.from({ length: 31 }, () => get("/pull/1"));
    await waitUntil(() => received.filter((path) => path === "/pull/1").length >= 31);
    gate.resolve();
    const pages = await Promise.all(requests);
    expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
    expect(repository.reads).toEqual(["111..222"]);
  });

  test("is one of two that are rendered and twenty that wait at a time", async () => {
    const { get, rows, repository, received } = await startPages();
    for (let number = 1; number <= 23; number++) rows.set(number, pullRequest(`head-${number}`));
    const gate = Promise.withResolvers<void>();
    repository.gate = gate.promise;
    const pages = Array.from({ length: 22 }, (_, index) => get(`/pull/${index + 1}`));
    const count = () => received.filter((path) => path.startsWith("/pull/")).length;
    await waitUntil(() => count() >= 22 && repository.reads.length >= 2);
    const rejected = await get("/pull/23");
    expect(rejected.status).toBe(503);
    expect(rejected.headers["retry-after"]).toBe("5");
    expect(rejected.text).toContain("Too many pages are being rendered");
    expect(repository.reads).toHaveLength(2);
    gate.resolve();
    for (const page of await Promise.all(pages)) expect(page.status).toBe(200);
    expect((await get("/pull/23")).status).toBe(200);
  });
});

test("every page forbids scripts, frames, referrers and storing", async () => {
  const { ask, get } = await startPages();
  const pages = [await get("/"), await get("/pull/1"), await get("/pull/99"), await ask("/sign-in"), await ask("/")];
  for (const { headers } of pages)
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "private, no-store",
    });
});

test("HEAD is answered like GET, without the page", async () => {
  const { get } = await startPages();
  for (const path of ["/", "/pull/1", "/pull/99"]) {
    const { status, headers } = await get(path);
    const head = await get(path, "HEAD");
    expect(head).toMatchObject({ status, text: "" });
    expect(head.headers["content-length"]).toBe(headers["content-length"]);
  }
});

test("other methods are not allowed", async () => {
  const { get } = await startPages();
  for (const [path, allow] of [
    ["/", "GET, HEAD"],
    ["/pull/1", "GET, HEAD"],
    ["/sign-in", "GET, HEAD, POST"],
  ] as const)
    expect(await get(path, "DELETE")).toMatchObject({ status: 405, headers: { allow } });
  expect(await get("/sign-out")).toMatchObject({ status: 405, headers: { allow: "POST" } });
});

test("every other request is passed on", async () => {
  const { ask } = await startPages();
  const pages = ["/pull/1", "/job/job_1", "/job/job_1/log", "/job/job_1/events", "/job/job_1/message"];
  const others = ["/assets/job-page.js", "/sign-in/link", "/sign-in", "/sign-out", "/"];
  for (const path of [...pages, ...others])
    for (const other of [`/v2${path}`, `${path}/x`]) expect((await ask(other)).text).toBe("next");
  for (const path of [
    "/pull/x",
    "/pull/1234567890",
    "/sign-in/x",
    "/favicon.ico",
    `/job/${"a".repeat(65)}`,
    "/job/a.b",
  ])
    expect((await ask(path)).text).toBe("next");
});
