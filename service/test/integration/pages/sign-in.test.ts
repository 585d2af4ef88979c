import { describe, expect, test } from "vitest";
import { serviceKey } from "../../../../test/support/scripted-service.ts";
import { openAuthenticator } from "../../../src/access/open-authenticator.ts";
import { defaultIssuer } from "../../../src/access/trust-rule.ts";
import { singleKey } from "../../../src/http/authentication.ts";
import { FakeMachine } from "../../support/fake-machine.ts";
import { keyFile, start } from "../../support/key-file.ts";
import { cookieIn, startPages } from "../../support/pages-server.ts";

const hour = 3_600_000;
const access = await singleKey(serviceKey, ["docs"]).authenticate(serviceKey);

describe("signing in", () => {
  test("leads to the page that was asked for, with a cookie in place of the key", async () => {
    const { ask, submit, url } = await startPages();
    const asked = await ask("/pull/1?x");
    expect(asked).toMatchObject({ status: 303, headers: { location: "/sign-in?next=%2Fpull%2F1%3Fx" }, text: "" });
    const form = await ask(asked.headers.location ?? "");
    expect(form.status).toBe(200);
    expect(form.text).toContain('<form method="post" action="/sign-in">');
    expect(form.text).toContain('<input type="hidden" name="next" value="/pull/1?x">');
    const signedIn = await submit({ key: serviceKey, next: "/pull/1" });
    expect(signedIn).toMatchObject({ status: 303, headers: { location: "/pull/1" } });
    const cookies = signedIn.headers["set-cookie"];
    const attributes = "; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200";
    const { port } = new URL(url);
    expect(cookies).toEqual([expect.stringMatching(`^agent-job-service-${port}=[\\w-]{43}${attributes}$`)]);
    expect(cookies?.[0]).not.toContain(serviceKey);
    const page = await ask("/pull/1", { headers: { cookie: cookieIn(signedIn.headers) } });
    expect(page.status).toBe(200);
    expect(page.text).toContain("Fix &lt;it&gt;");
  });

  test("is required for every page, also for one that does not exist", async () => {
    const { ask, cookie } = await startPages();
    for (const [path, location] of [
      ["/", "/sign-in"],
      ["/pull/1", "/sign-in?next=%2Fpull%2F1"],
      ["/pull/99", "/sign-in?next=%2Fpull%2F99"],
    ] as const)
      for (const value of ["", "other=1", "agent-job-service-1=x", cookie.replace("agent", "other")])
        expect(await ask(path, { headers: { cookie: value } })).toMatchObject({ status: 303, headers: { location } });
  });

  test("leads to no other site", async () => {
    const { ask, submit } = await startPages();
    for (const next of ["https://evil.example/pull/1", "//evil.example", "/\\evil.example", "/pull/1/../x", "x", ""]) {
      expect((await submit({ key: serviceKey, next })).headers.location).toBe("/");
      expect((await ask(`/sign-in?next=${encodeURIComponent(next)}`)).text).toContain('name="next" value="/">');
    }
  });

  test("is not asked for again", async () => {
    const { get } = await startPages();
    for (const path of ["/pull/1", "/pull/123456789", "/"])
      expect((await get(`/sign-in?next=${path}`)).headers.location).toBe(path);
  });

  test("accepts the key with spaces around it, as when it is pasted", async () => {
    const { submit } = await startPages();
    expect((await submit({ key: ` ${serviceKey} ` })).status).toBe(303);
  });

  test("sets a Secure cookie at an https URL, and not on loopback", async () => {
    const { submit } = await startPages({ publicUrl: "https://agents.example.com" });
    const publicly = await submit({ key: serviceKey }, { host: "agents.example.com" });
    // No other host of the domain can set one with this beginning.
    expect(publicly.headers["set-cookie"]?.[0]).toMatch(/^__Host-agent-job-service-443=.*; Path=\/; .*; Secure$/);
    expect((await submit({ key: serviceKey })).headers["set-cookie"]?.[0]).not.toContain("Secure");
  });

  test("is possible next to a cookie of the same name that another server on this machine set", async () => {
    const { ask, cookie, url } = await startPages();
    const foreign = `agent-job-service-${new URL(url).port}=foreign`;
    for (const both of [`${foreign}; ${cookie}`, `${cookie};${foreign}`])
      expect((await ask("/pull/1", { headers: { cookie: both } })).status).toBe(200);
  });
});

describe("a key that is not accepted", () => {
  test.each([
    ["a wrong one", "mint_wrong", "Invalid API key"],
    ["the beginning", serviceKey.slice(0, -1), "Invalid API key"],
    ["none", "", "Missing API key"],
    ["an assistant's", "mint_dsc_assistant", "This endpoint needs an admin API key"],
    ["a user's", "mint_us_user", "This endpoint needs an admin API key"],
  ])("is answered with 401, the reason and the form: %s", async (_name, key, error) => {
    const { submit } = await startPages();
    const { status, headers, text } = await submit({ key, next: "/pull/1" });
    expect(status).toBe(401);
    expect(headers["www-authenticate"]).toBe("Bearer");
    expect(headers["set-cookie"]).toBeUndefined();
    expect(text).toContain(`<p class="minus" role="alert">${error}</p>`);
    expect(text).toContain('name="next" value="/pull/1">');
    if (key !== "") expect(text).not.toContain(key);
  });

  test("is missing if the form has no such field", async () => {
    const { submit } = await startPages();
    const { status, text } = await submit({ next: "/" });
    expect(status).toBe(401);
    expect(text).toContain("Missing API key");
  });

  test("is not read from a URL", async () => {
    const { ask } = await startPages();
    const { status, headers } = await ask(`/sign-in?key=${serviceKey}`);
    expect(status).toBe(200);
    expect(headers["set-cookie"]).toBeUndefined();
  });

  test("limits attempts for a minute, but neither sessions nor links of those who have the key", async () => {
    const { ask, submit, get, machine } = await startPages();
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await submit({ key: "mint_wrong" })).status).toBe(401);
      machine.pass(1000);
    }
    const limited = await submit({ key: serviceKey });
    expect(limited.status).toBe(429);
    expect(limited.headers).toMatchObject({ "retry-after": "50" });
    expect(limited.headers["set-cookie"]).toBeUndefined();
    expect(limited.text).toContain("Try again in 50 seconds");

    expect((await get("/pull/1")).status).toBe(200);
    const headers = { authorization: `Bearer ${serviceKey}` };
    const link = await ask("/sign-in/link?next=/pull/1", { method: "POST", headers });
    expect((await ask(new URL(link.text.trim()).pathname)).headers.location).toBe("/pull/1");

    machine.pass(49_999);
    expect((await submit({ key: serviceKey })).status).toBe(429);
    machine.pass(1);
    expect((await submit({ key: serviceKey })).status).toBe(303);
    // Only the oldest attempt has expired.
    expect((await submit({ key: "mint_wrong" })).status).toBe(401);
    expect((await submit({ key: serviceKey })).status).toBe(429);
  });
});

test("a form that a reverse proxy passes on without its host is rejected with what to change", async () => {
  const { submit } = await startPages({ publicUrl: "https://agents.example.com" });
  const { status, text, headers } = await submit({ key: serviceKey }, { origin: "https://agents.example.com" });
  expect(status).toBe(421);
  expect(text).toContain("proxy_set_header Host $http_host");
  expect(headers["set-cookie"]).toBeUndefined();
});

test("attempts with wrong keys behind a reverse proxy do not close the form for others", async () => {
  const { submit } = await startPages();
  const from = (address: string) => ({ "x-forwarded-for": `203.0.113.9, ${address}` });
  for (let attempt = 0; attempt < 10; attempt++)
    expect((await submit({ key: "mint_wrong" }, from(`2001:db8:0:1::${attempt}`))).status).toBe(401);
  // The network of an IPv6 address is one client.
  expect((await submit({ key: serviceKey }, from("2001:db8:0:1:ffff::1"))).status).toBe(429);
  for (const other of ["2001:db8:0:2::1", "198.51.100.7"])
    expect((await submit({ key: serviceKey }, from(other))).status).toBe(303);
  expect((await submit({ key: serviceKey })).status).toBe(303);
});

describe("a session", () => {
  test("ends after 12 hours", async () => {
    const { get, machine } = await startPages();
    machine.pass(12 * hour);
    expect((await get("/pull/1")).status).toBe(200);
    machine.pass(1);
    expect((await get("/pull/1")).status).toBe(303);
  });

  test("ends when its user signs out, and no other does", async () => {
    const { ask, submit, get, cookie, url } = await startPages();
    const other = cookieIn((await submit({ key: serviceKey })).headers);
    expect((await get("/")).text).toContain('<form method="post" action="/sign-out">');
    const out = await ask("/sign-out", { method: "POST", headers: { cookie } });
    expect(out).toMatchObject({ status: 303, headers: { location: "/sign-in" } });
    const expired = `agent-job-service-${new URL(url).port}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0`;
    expect(out.headers["set-cookie"]).toEqual([expired]);
    expect((await get("/pull/1")).status).toBe(303);
    expect((await ask("/pull/1", { headers: { cookie: other } })).status).toBe(200);
  });
});

describe("a form that another site sent", () => {
  const forged = [
    ["a browser says so", { "sec-fetch-site": "cross-site" }],
    ["another server on this machine", { "sec-fetch-site": "same-site" }],
    ["an older browser says so", { origin: "https://evil.example" }],
    ["an older browser hides where from", { origin: "null" }],
  ] as const;

  test.each(forged)("signs nobody in, and counts as no attempt: %s", async (_name, headers) => {
    const { submit } = await startPages();
    for (let attempt = 0; attempt < 11; attempt++) {
      const { status, headers: answer } = await submit({ key: serviceKey }, headers);
      expect(status).toBe(403);
      expect(answer["set-cookie"]).toBeUndefined();
      expect((await submit({ key: "mint_wrong" }, headers)).status).toBe(403);
    }
    expect((await submit({ key: serviceKey })).status).toBe(303);
  });

  test.each(forged)("signs nobody out: %s", async (_name, headers) => {
    const { ask, get, cookie } = await startPages();
    expect((await ask("/sign-out", { method: "POST", headers: { cookie, ...headers } })).status).toBe(403);
    expect((await get("/pull/1")).status).toBe(200);
  });

  test("is told apart from the service's own", async () => {
    const { submit, url } = await startPages({ publicUrl: "https://agents.example.com" });
    const own: Record<string, string>[] = [
      { "sec-fetch-site": "same-origin", origin: "null" },
      { "sec-fetch-site": "none" },
      { origin: url },
      { host: "agents.example.com", origin: "https://agents.example.com" },
    ];
    for (const headers of own) expect((await submit({ key: serviceKey }, headers)).status).toBe(303);
  });

  test("has to be a form, and a small one", async () => {
    const { ask, submit } = await startPages();
    const headers = { "content-type": "text/plain" };
    expect((await ask("/sign-in", { method: "POST", headers, body: `key=${serviceKey}` })).status).toBe(400);
    expect((await submit({ key: serviceKey, next: "x".repeat(5000) })).status).toBe(413);
  });
});

test("a link from another site loads the page again from this one, so that the browser sends its cookie", async () => {
  const { ask, get } = await startPages();
  const { status, text } = await ask("/pull/1", { headers: { "sec-fetch-site": "cross-site" } });
  expect(status).toBe(200);
  expect(text).toContain('<meta http-equiv="refresh" content="0; url=/pull/1">');
  expect(text).not.toContain("Fix");
  expect((await ask("/pull/1", { headers: { "sec-fetch-site": "same-origin" } })).status).toBe(303);
  expect((await get("/pull/1")).text).not.toContain("http-equiv");
});

describe("a link to sign in", () => {
  test("works once, and leaves the address bar by a redirect", async () => {
    const { ask, pages, url } = await startPages();
    const link = await pages.createSignInLink("/pull/1", access);
    expect(link).toMatch(new RegExp(`^${url}/sign-in/[\\w-]{43}$`));
    const { pathname } = new URL(link);
    // Programs that preview links ask so.
    expect((await ask(pathname, { method: "HEAD" })).status).toBe(405);
    for (const other of [`/x${pathname}`, `${pathname}x`, `${pathname}/x`])
      expect((await ask(other)).text).toBe("next");
    // So do browsers that load a page before someone opens it.
    expect((await ask(pathname, { headers: { "sec-purpose": "prefetch;prerender" } })).status).toBe(503);
    const first = await ask(pathname);
    expect(first).toMatchObject({ status: 303, headers: { location: "/pull/1" } });
    expect((await ask("/pull/1", { headers: { cookie: cookieIn(first.headers) } })).status).toBe(200);
    const second = await ask(pathname);
    expect(second.status).toBe(403);
    expect(second.headers["set-cookie"]).toBeUndefined();
    expect(second.text).toContain("already used, or has expired");
    expect(second.text).toContain('<form method="post" action="/sign-in">');
  });

  test("expires after 10 minutes", async () => {
    const { ask, pages, machine } = await startPages();
    const [one, two] = [await pages.createSignInLink("/", access), await pages.createSignInLink("/", access)];
    machine.pass(600_000);
    expect((await ask(new URL(one).pathname)).status).toBe(303);
    machine.pass(1);
    expect((await ask(new URL(two).pathname)).status).toBe(403);
  });

  test("leads to no other site, and uses the public URL", async () => {
    const { ask, pages } = await startPages({ publicUrl: "https://agents.example.com" });
    const link = new URL(await pages.createSignInLink("https://evil.example", access));
    expect(link.origin).toBe("https://agents.example.com");
    const { headers } = await ask(link.pathname, { headers: { host: link.host } });
    expect(headers.location).toBe("/");
    expect(headers["set-cookie"]?.[0]).toMatch(/; Secure$/);
  });

  test("is created for who has the key only", async () => {
    const { ask, url } = await startPages();
    const create = (authorization?: string) =>
      ask("/sign-in/link", { method: "POST", ...(authorization && { headers: { authorization } }) });
    const created = await create(`Bearer ${serviceKey}`);
    expect(created.status).toBe(201);
    expect(created.headers["content-type"]).toBe("text/plain");
    expect(created.text).toMatch(new RegExp(`^${url}/sign-in/[\\w-]{43}\n$`));
    for (const authorization of [undefined, "Bearer mint_wrong", `Bearer mint_us_x`]) {
      const { status, headers, text } = await create(authorization);
      expect(status).toBe(401);
      expect(headers["www-authenticate"]).toBe("Bearer");
      expect(text).not.toContain("/sign-in/");
    }
    expect((await ask("/sign-in/link")).status).toBe(405);
  });
});

describe("with several keys", () => {
  /** Starts the pages for the keys of a file, with a clock that only tests move. */
  async function startWithKeys() {
    const { file, add, revoke } = keyFile();
    const keys = { ci: await add("ci", ["docs"], 1), operator: await add("operator") };
    const time = new FakeMachine(start);
    const authenticator = await openAuthenticator({
      apiKey: undefined,
      keys: file,
      trust: [],
      trustIssuer: defaultIssuer,
      projects: ["docs"],
      baseUrl: () => "",
      machine: time,
      log: () => {},
    });
    return { ...(await startPages({ authenticator })), keys, revoke, time };
  }

  test("each signs in, and a session ends with its key only", async () => {
    const { submit, ask, keys, revoke, time } = await startWithKeys();
    const cookies = [cookieIn((await submit({ key: keys.ci })).headers)];
    cookies.push(cookieIn((await submit({ key: keys.operator })).headers));
    const statuses = () => Promise.all(cookies.map(async (cookie) => (await ask("/", { headers: { cookie } })).status));
    expect(await statuses()).toEqual([200, 200]);
    await revoke("operator");
    time.pass(1000);
    expect(await statuses()).toEqual([200, 303]);
    time.pass(24 * hour);
    expect(await statuses()).toEqual([303, 303]);
    const expired = await submit({ key: keys.ci });
    expect(expired.status).toBe(401);
    expect(expired.text).toContain("The API key ci expired on 2026-03-02");
  });

  test("a link signs in with the key that created it", async () => {
    const { ask, keys, revoke, time } = await startWithKeys();
    const headers = { authorization: `Bearer ${keys.ci}` };
    const { text } = await ask("/sign-in/link", { method: "POST", headers });
    const cookie = cookieIn((await ask(new URL(text.trim()).pathname)).headers);
    expect((await ask("/", { headers: { cookie } })).status).toBe(200);
    await revoke("ci");
    time.pass(1000);
    expect((await ask("/", { headers: { cookie } })).status).toBe(303);
  });
});
