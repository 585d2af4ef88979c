import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { waitUntil } from "../../../../test/support/wait-until.ts";
import { StoreUnavailable } from "../../../src/store-errors.ts";
import { type PagesServerOptions, startPages } from "../../support/pages-server.ts";

const bearer = { authorization: `Bearer ${serviceKey}` };
const path = "/job/job_1/events";

interface ServerEvent {
  event: string;
  data: unknown;
  id?: number;
}

/** Returns the events of a stream. Comments are left out. */
function parse(stream: string): ServerEvent[] {
  return stream
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
      const { event, data, id } = fields as Record<string, string>;
      return { event: event ?? "", data: JSON.parse(data ?? ""), ...(id !== undefined && { id: Number(id) }) };
    });
}

const textOf = (events: readonly ServerEvent[]): string =>
  events
    .filter(({ event }) => event === "log")
    .map(({ data }) => data)
    .join("");

/** Starts the pages with a job that is active, or ends at once. */
async function start(options?: PagesServerOptions & { isIdle?: boolean }) {
  const pages = await startPages(options);
  if (options?.isIdle !== true) pages.jobs.set("job_1", { state: "active" });
  /** Opens a stream. `until` waits until it has a text, and returns all of it. */
  const open = async (address = path, headers: Record<string, string | undefined> = {}) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = Object.entries({ ...bearer, ...headers }).filter(([, value]) => value !== undefined);
      const all = Object.fromEntries(sent);
      const request = httpRequest(pages.url + address, { headers: all, agent: false }, resolve)
        .on("error", reject)
        .end();
      onTestFinished(() => void request.destroy());
    });
    let received = "";
    response.setEncoding("utf8").on("data", (part: string) => {
      received += part;
    });
    response.on("error", () => {});
    const until = async (text: string) => {
      await waitUntil(() => received.includes(text));
      return received;
    };
    const end = async () => {
      if (!response.readableEnded) await once(response, "end");
      return parse(received);
    };
    return { response, until, end };
  };
  /** Reads all events of a job that is not active. */
  const read = async (address = path, headers: Record<string, string> = {}) => {
    const { status, text } = await pages.ask(address, { headers: { ...bearer, ...headers } });
    expect(status).toBe(200);
    return parse(text);
  };
  return { ...pages, open, read };
}

describe("the events of a job", () => {
  test("are its log, its progress whenever that changes, and its end", async () => {
    const { open, logs, jobs, turns } = await start();
    logs.add("job_1", "| one\n");
    const { response, until, end } = await open();
    expect(response.headers).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "private, no-store",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    });
    await until("state");
    turns.push({ state: "running", prompt: "More" });
    logs.add("job_1", "| two\n");
    await until('"running":1');
    logs.wake("job_1");
    logs.add("job_1", "| three\n");
    expect(await until("three")).not.toContain(":\n\n");
    turns[1] = { state: "completed", prompt: "More" };
    jobs.set("job_1", { state: "failed" });
    logs.wake("job_1");
    expect(await end()).toEqual([
      { event: "log", data: "| one\n", id: 6 },
      { event: "state", data: { state: "active", turns: 1, running: null } },
      { event: "log", data: "| two\n", id: 12 },
      { event: "state", data: { state: "active", turns: 2, running: 1 } },
      { event: "log", data: "| three\n", id: 20 },
      { event: "state", data: { state: "failed", turns: 2, running: null } },
      { event: "end", data: null },
    ]);
    expect(logs.followers).toBe(0);
  });

  test("end at once if it is not active", async () => {
    const { read } = await start({ isIdle: true });
    expect(await read()).toEqual([
      { event: "state", data: { state: "completed", turns: 1, running: null } },
      { event: "end", data: null },
    ]);
  });

  test("end when it is deleted", async () => {
    const { open, jobs, logs } = await start();
    const { until, end } = await open();
    await until("state");
    jobs.delete("job_1");
    logs.wake("job_1");
    expect((await end()).at(-1)).toEqual({ event: "end", data: null });
  });

  test("have whole characters, however the log is stored and read, and no control characters", async () => {
    const { read, logs } = await start({ isIdle: true });
    const log = "| é✓😀\u202e\u0007\n";
    for (const byte of Buffer.from(log)) logs.add("job_1", Buffer.from([byte]));
    const text = "| é✓😀[U+202e]\n";
    for (let bytes = 1; bytes < 8; bytes++) {
      logs.maxReadBytes = bytes;
      const events = await read();
      expect(textOf(events)).toBe(text);
      expect(events).not.toContainEqual(expect.objectContaining({ data: "" }));
    }
  });

  test("have what is left of a log that ends within a character", async () => {
    const { read, logs } = await start({ isIdle: true });
    logs.add("job_1", Buffer.from("| ✓").subarray(0, 4));
    const [beginning, , rest] = await read();
    expect(beginning).toEqual({ event: "log", data: "| ", id: 2 });
    expect(rest).toEqual({ event: "log", data: "\ufffd", id: 4 });
  });

  test("go on at any byte that a reader has", async () => {
    const { read, logs } = await start({ isIdle: true });
    const log = Buffer.from("| é\n| ✓😀\n| x\n");
    logs.add("job_1", log);
    logs.maxReadBytes = 3;
    for (let position = 0; position <= log.length; position++) {
      let start = position;
      // Half of a character is not shown.
      while (((log[start] ?? 0) & 0xc0) === 0x80) start++;
      const rest = log.subarray(start).toString();
      expect(textOf(await read(`${path}?after=${position}`))).toBe(rest);
      // What a browser sends when it has lost the connection counts, and not the address that it uses again.
      expect(textOf(await read(`${path}?after=1`, { "last-event-id": String(position) }))).toBe(rest);
    }
    expect(textOf(await read(`${path}?after=99`))).toBe("");
  });

  test("resume exactly after each event", async () => {
    const { read, logs } = await start({ isIdle: true });
    const text = "| é✓😀\n".repeat(5);
    logs.add("job_1", text);
    logs.maxReadBytes = 4;
    const events = (await read()).filter(({ event }) => event === "log");
    expect(events.length).toBeGreaterThan(5);
    for (const [index, { id }] of events.entries()) {
      const before = textOf(events.slice(0, index + 1));
      expect(before + textOf(await read(path, { "last-event-id": String(id) }))).toBe(text);
    }
  });

  test("need a position that is a number", async () => {
    const { ask } = await start();
    for (const after of ["-1", "x", "1e3", "1".repeat(16)])
      expect((await ask(`${path}?after=${after}`, { headers: bearer })).status).toBe(400);
    expect((await ask(path, { headers: { ...bearer, "last-event-id": "x" } })).status).toBe(400);
  });

  test("are followed by comments while nothing happens, so that no proxy takes the connection for idle", async () => {
    const { open, machine, logs } = await start({ keepAliveMs: 3 });
    const { until } = await open();
    await until("state");
    logs.wake("job_1");
    machine.pass(3);
    expect(await until(":\n\n")).toMatch(/\n\n:\n\n$/);
  });

  test("go on after an outage of the store, and keep the connection meanwhile", async () => {
    const { open, jobs, logs, log, machine } = await start({ keepAliveMs: 3 });
    logs.add("job_1", "| one\n");
    const { until, end } = await open();
    await until("state");
    logs.gate = () => Promise.reject(new StoreUnavailable("no connection"));
    machine.pass(3);
    await until(":\n\n");
    logs.gate = () => Promise.resolve();
    logs.add("job_1", "| two\n");
    await until("two");
    jobs.set("job_1", { state: "completed" });
    logs.wake("job_1");
    expect(textOf(await end())).toBe("| one\n| two\n");
    expect(log).toEqual([]);
  });

  test.each([path, "/job/job_1/log"])(
    "at %s are cut off some time after the reader has signed out",
    async (address) => {
      const { open, submit, cookie, machine, logs, log } = await start({ keepAliveMs: 3 });
      logs.add("job_1", "| one\n");
      const { response, until } = await open(address, { authorization: undefined, cookie });
      const closed = new Promise((resolve) => response.once("close", resolve));
      await until("one");
      machine.pass(3);
      logs.add("job_1", "| two\n");
      await until("two");
      await submit({}, { cookie }, "/sign-out");
      machine.pass(3);
      logs.add("job_1", "| secret\n");
      await closed;
      expect(response.complete).toBe(false);
      expect(await until("one")).not.toContain("secret");
      expect(log).toEqual([]);
    },
  );

  test("are not cut off for who sends the key", async () => {
    const { open, machine, logs } = await start({ keepAliveMs: 3 });
    const { response, until } = await open();
    await until("state");
    for (const text of ["one", "two"]) {
      machine.pass(3);
      logs.add("job_1", `| ${text}\n`);
      expect(textOf(parse(await until(`| ${text}`)))).toContain(text);
    }
    expect(response.destroyed).toBe(false);
    expect(logs.followers).toBe(1);
  });

  test("stop without an end when the service stops, so that a browser connects again", async () => {
    const service = new AbortController();
    const { open, logs } = await start({ signal: service.signal });
    logs.add("job_1", "| one\n");
    const { until, end } = await open();
    await until("state");
    service.abort();
    expect((await end()).map(({ event }) => event)).toEqual(["log", "state"]);
    expect(logs.followers).toBe(0);
  });

  test("are for those who are signed in, or have the key", async () => {
    const { ask, get } = await start({ isIdle: true });
    expect((await get(path)).status).toBe(200);
    expect((await ask(path)).status).toBe(303);
    expect((await ask(path, { headers: { authorization: "Bearer mint_wrong" } })).status).toBe(401);
  });

  test("are sent to a limited number of readers, together with logs", async () => {
    const { open, ask, logs } = await start({ maxLogs: 2 });
    const streams = [await open(), await open("/job/job_1/log")];
    for (const address of [path, "/job/job_1/log"])
      expect(await ask(address, { headers: bearer })).toMatchObject({ status: 503, headers: { "retry-after": "30" } });
    expect((await ask(path, { method: "HEAD", headers: bearer })).status).toBe(200);
    streams[0]?.response.destroy();
    await waitUntil(() => logs.followers === 1);
    const again = await open();
    await again.until("state");
  });
});
