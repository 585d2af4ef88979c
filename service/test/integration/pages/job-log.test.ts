import { once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { listen } from "../../../src/http/listen.ts";
import { sendStream } from "../../../src/pages/stream-reply.ts";
import { StoreUnavailable } from "../../../src/store-errors.ts";
import { type PagesServerOptions, startPages } from "../../support/pages-server.ts";

const bearer = { authorization: `Bearer ${serviceKey}` };
const path = "/job/job_1/log";

/** Sends a request and returns its response as soon as that begins. */
function open(url: string, headers: Record<string, string> = bearer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { headers, agent: false }, resolve).on("error", reject).end();
    onTestFinished(() => void request.destroy());
  });
}

/** Collects what arrives of a response. */
function collect(response: IncomingMessage) {
  let received = "";
  response.setEncoding("utf8").on("data", (part: string) => {
    received += part;
  });
  response.on("error", () => {});
  return async (part: string) => {
    await waitUntil(() => received.includes(part));
    return received;
  };
}

/** Waits until a connection is closed, in whatever way. */
function closed(response: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    response.on("error", () => {}).on("close", resolve);
  });
}

const tick = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

/** Starts the pages with a job that is active. */
async function startActive(options?: PagesServerOptions) {
  const pages = await startPages(options);
  pages.jobs.set("job_1", { state: "active" });
  const followers = async (count: number) => {
    await waitUntil(() => pages.logs.followers === count);
  };
  return { ...pages, followers };
}

describe("the log of a job", () => {
  test("is sent as text that no browser takes for a page", async () => {
    const { ask, logs } = await startPages();
    logs.add("job_1", "| <script>alert(1)</script>\n[service] Turn 1 completed. ✓\n");
    const { status, headers, text: log } = await ask(path, { headers: bearer });
    expect(status).toBe(200);
    expect(log).toBe("| <script>alert(1)</script>\n[service] Turn 1 completed. ✓\n");
    expect(headers).toMatchObject({
      "content-type": "text/plain; charset=utf-8",
      "x-content-type-options": "nosniff",
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "cache-control": "private, no-store",
    });
  });

  test("is for those who are signed in, too", async () => {
    const { get, logs } = await startPages();
    logs.add("job_1", "| Hello\n");
    expect(await get(path)).toMatchObject({ status: 200, text: "| Hello\n" });
  });

  test("is for nobody else", async () => {
    const { ask, logs } = await startPages();
    logs.add("job_1", "| Hello\n");
    const location = "/sign-in?next=%2Fjob%2Fjob_1%2Flog";
    expect(await ask(path)).toMatchObject({ status: 303, headers: { location }, text: "" });
    for (const authorization of ["Bearer mint_wrong", "Bearer mint_us_x", "Basic x", ""]) {
      const { status, headers, text: page } = await ask(path, { headers: { authorization } });
      expect(status).toBe(401);
      expect(headers["www-authenticate"]).toBe("Bearer");
      expect(page).not.toContain("Hello");
    }
  });

  test("is where signing in leads to, if it was asked for", async () => {
    const { submit } = await startPages();
    expect((await submit({ key: serviceKey, next: path })).headers.location).toBe(path);
    for (const next of ["/job/../log", "/job/a/b/log", "/job/job_1/log/", `/job/${"a".repeat(65)}/log`])
      expect((await submit({ key: serviceKey, next })).headers.location).toBe("/");
  });

  test("is empty before the job has one", async () => {
    const { ask } = await startPages();
    expect(await ask(path, { headers: bearer })).toMatchObject({ status: 200, text: "" });
  });

  test("is not found if there is no such job, although there is a log", async () => {
    const { ask, logs } = await startPages();
    logs.add("job_2", "| Hello\n");
    const { status, text: page } = await ask("/job/job_2/log", { headers: bearer });
    expect(status).toBe(404);
    expect(page).toContain("Job not found");
    expect(await ask("/job/..%2fjob_2/log", { headers: bearer })).toMatchObject({ text: "next" });
  });

  test("has headers alone with HEAD, also while the job is active", async () => {
    const { ask, logs } = await startActive();
    logs.add("job_1", "| Hello\n");
    const { status, headers, text: log } = await ask(path, { method: "HEAD", headers: bearer });
    expect(status).toBe(200);
    expect(headers["content-type"]).toBe("text/plain; charset=utf-8");
    expect(log).toBe("");
    expect(logs.followers).toBe(0);
  });

  test("cannot be changed", async () => {
    const { ask } = await startPages();
    const { status, headers } = await ask(path, { method: "POST", headers: bearer });
    expect(status).toBe(405);
    expect(headers.allow).toBe("GET, HEAD");
  });

  test("is answered with 503 while the store cannot be used", async () => {
    const { ask, jobs, log } = await startPages();
    jobs.get = () => {
      throw new StoreUnavailable("no connection");
    };
    const { status, headers, text: page } = await ask(path, { headers: bearer });
    expect(status).toBe(503);
    expect(headers["retry-after"]).toBe("30");
    expect(page).toContain("The service cannot use its store now");
    expect(log).toEqual([]);
  });

  test("is cut off if the store cannot be used when it has begun, and is not to be followed", async () => {
    const { ask, logs, log } = await startPages();
    logs.gate = () => Promise.reject(new StoreUnavailable("no connection"));
    await expect(ask(`${path}?follow=no`, { headers: bearer })).rejects.toThrow("aborted");
    expect(log).toEqual([]);
  });
});

describe("the log of an active job", () => {
  test("goes on until the turns of the job have ended", async () => {
    const { url, jobs, logs } = await startActive();
    logs.add("job_1", "| one\n");
    const response = await open(url + path);
    const received = collect(response);
    const ended = once(response, "end");
    expect(await received("one\n")).toBe("| one\n");
    const check = Buffer.from("| ✓\n");
    logs.add("job_1", check.subarray(0, 3));
    logs.add("job_1", check.subarray(3));
    expect(await received("✓\n")).toBe("| one\n| ✓\n");
    // The rest of the log is stored before the turn has ended.
    logs.add("job_1", "[service] Turn 1 completed.\n");
    jobs.set("job_1", { state: "completed" });
    logs.wake("job_1");
    await ended;
    expect(await received("completed")).toBe("| one\n| ✓\n[service] Turn 1 completed.\n");
    expect(logs.followers).toBe(0);
  });

  test("is sent to its end, if that is stored while the page looks whether the job is active", async () => {
    const { url, jobs, logs, followers } = await startActive();
    const response = await open(url + path);
    await followers(1);
    logs.maxReadBytes = 4;
    jobs.get = () => {
      if (logs.text("job_1") === "") logs.add("job_1", "| one\n| two\n");
      return { state: "failed" };
    };
    logs.wake("job_1");
    expect(await text(response)).toBe("| one\n| two\n");
  });

  test("ends when the job is deleted", async () => {
    const { url, jobs, logs } = await startActive();
    const response = await open(url + path);
    jobs.delete("job_1");
    logs.wake("job_1");
    expect(await text(response)).toBe("");
  });

  test("ends at once with ?follow=no", async () => {
    const { ask, logs } = await startActive();
    logs.add("job_1", "| one\n");
    expect(await ask(`${path}?follow=no`, { headers: bearer })).toMatchObject({ status: 200, text: "| one\n" });
  });

  test("has an empty line while nothing happens, so that no proxy takes the connection for idle", async () => {
    const { url, machine, logs } = await startActive({ keepAliveMs: 3 });
    logs.add("job_1", "| one\n");
    const received = collect(await open(url + path));
    await received("one\n");
    machine.pass(3);
    expect(await received("one\n\n")).toBe("| one\n\n");
    // Not within a line.
    logs.add("job_1", "| tw");
    await received("tw");
    machine.pass(3);
    logs.add("job_1", "o\n");
    expect(await received("o\n")).toContain("| two\n");
  });

  test("goes on after an outage of the store", async () => {
    const { url, jobs, logs, log } = await startActive();
    logs.add("job_1", "| one\n");
    const response = await open(url + path);
    const received = collect(response);
    await received("one\n");
    logs.gate = () => Promise.reject(new StoreUnavailable("no connection"));
    logs.add("job_1", "| two\n");
    for (let times = 0; times < 5; times++) await tick();
    logs.gate = () => Promise.resolve();
    jobs.set("job_1", { state: "completed" });
    logs.wake("job_1");
    await once(response, "end");
    expect(await received("two\n")).toBe("| one\n| two\n");
    expect(log).toEqual([]);
  });

  test("is cut off if it cannot be read, which is logged", async () => {
    const { url, logs, log } = await startActive();
    logs.add("job_1", "| one\n");
    const response = await open(url + path);
    await collect(response)("one\n");
    logs.gate = () => Promise.reject(new Error("the disk is broken"));
    logs.wake("job_1");
    await closed(response);
    expect(response.complete).toBe(false);
    expect(log).toEqual([expect.stringMatching(/^GET \/job\/job_1\/log: Error: the disk is broken\n +at /)]);
  });

  test("is followed no more when the reader has left", async () => {
    const { url, followers, logs } = await startActive();
    const response = await open(url + path);
    await followers(1);
    response.destroy();
    await followers(0);
    expect(logs.followers).toBe(0);
  });

  test("is sent to a limited number of readers at a time", async () => {
    const { url, ask, followers } = await startActive({ maxLogs: 2 });
    const [first] = [await open(url + path), await open(url + path)];
    await followers(2);
    const { status, headers, text: page } = await ask(path, { headers: bearer });
    expect(status).toBe(503);
    expect(headers["retry-after"]).toBe("30");
    expect(page).toContain("Too many logs are being read.");
    expect((await ask(path, { method: "HEAD", headers: bearer })).status).toBe(200);
    first?.destroy();
    await followers(1);
    expect((await ask(`${path}?follow=no`, { headers: bearer })).status).toBe(200);
    expect((await open(url + path)).statusCode).toBe(200);
  });

  test("is read no faster than it is received, and others are served meanwhile", async () => {
    const { url, ask, logs } = await startActive();
    const size = 64 * 1024 * 1024;
    logs.add("job_1", Buffer.alloc(size, "x"));
    let reads = 0;
    logs.gate = async () => void reads++;
    const response = await open(`${url}${path}?follow=no`);
    let before = -1;
    while (before < reads) {
      before = reads;
      for (let times = 0; times < 50; times++) await tick();
    }
    // What the system keeps for a connection is a few MiB.
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(size / logs.maxReadBytes / 2);
    expect((await ask("/sign-in")).status).toBe(200);
    let received = 0;
    for await (const part of response) received += part.length;
    expect(received).toBe(size);
  });

  test("is followed however many connections are opened", async () => {
    const { url, jobs, logs } = await startActive({ maxConnections: 2 });
    const response = await open(url + path);
    // One connection after the other: each can only be answered if another one is closed.
    for (let connection = 0; connection < 3; connection++) {
      const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
      onTestFinished(() => void socket.destroy());
      socket.write("GET /v2/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await once(socket, "data");
    }
    logs.add("job_1", "| one\n");
    jobs.set("job_1", { state: "completed" });
    logs.wake("job_1");
    expect(await text(response)).toBe("| one\n");
  });

  test("does not keep the service from stopping", async () => {
    const { url, stop, followers, logs } = await startActive();
    const response = await open(url + path);
    const left = closed(response.resume());
    await followers(1);
    await stop();
    await followers(0);
    await left;
    expect(response.complete).toBe(false);
    expect(logs.followers).toBe(0);
  });
});

test("a client that takes nothing for a while is disconnected", async () => {
  let isEnded = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.alloc(65_536);
    } finally {
      isEnded = true;
    }
  }
  const sent = Promise.withResolvers<void>();
  const server = await listen((_request, response) => {
    sendStream(response, { headers: {}, content: endless }, 20).then(sent.resolve, sent.reject);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const response = await open(server.url);
  await sent.promise;
  expect(isEnded).toBe(true);
  await closed(response.resume());
  expect(response.complete).toBe(false);
});

/** Starts a server that answers with what `answer` sends, and returns what that returns. */
async function startStream(answer: (response: ServerResponse) => Promise<void>) {
  const sent = Promise.withResolvers<void>();
  const server = await listen((_request, response) => void answer(response).then(sent.resolve, sent.reject));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { url: server.url, sent: sent.promise };
}

describe("a client that has left", () => {
  test("is sent nothing, and the content is told at once if it has left before", async () => {
    let wasAborted: boolean | undefined;
    let leave = (): void => {};
    const { url, sent } = await startStream(async (response) => {
      const closed = once(response, "close");
      leave();
      await closed;
      await sendStream(response, {
        headers: {},
        content: async function* (signal) {
          wasAborted = signal.aborted;
          yield Buffer.alloc(65_536);
        },
      });
    });
    const request = httpRequest(url, { agent: false }).on("error", () => {});
    leave = () => void request.destroy();
    request.end();
    await sent;
    expect(wasAborted).toBe(true);
  });

  test("is not waited for, and an error of the content is none any more", async () => {
    let isEnded = false;
    const { url, sent } = await startStream((response) =>
      sendStream(response, {
        headers: {},
        content: async function* (signal) {
          yield Buffer.from("one");
          await once(signal, "abort");
          isEnded = true;
          throw new Error("the disk is broken");
        },
      }),
    );
    const response = await open(url, {});
    await collect(response)("one");
    response.destroy();
    await sent;
    expect(isEnded).toBe(true);
  });

  test("is not waited for if the content goes on", async () => {
    let [wasAborted, isReadOn] = [false, false];
    const { url, sent } = await startStream((response) =>
      sendStream(response, {
        headers: {},
        content: async function* (signal) {
          yield Buffer.from("one");
          await once(signal, "abort");
          wasAborted = true;
          yield Buffer.alloc(1_000_000);
          isReadOn = true;
        },
      }),
    );
    const response = await open(url, {});
    await collect(response)("one");
    response.destroy();
    await sent;
    expect({ wasAborted, isReadOn }).toEqual({ wasAborted: true, isReadOn: false });
  });
});
