import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJobPage } from "../../../src/client/job-page.ts";
import { hostileText } from "../../support/hostile-text.ts";

const request = new URL("https://agents.example.com/api/v2/agent/docs/job/job_1");
const html = 'rel="alternate"; type="text/html"';
const page = "https://agents.example.com/jobs/1";

const parse = (header: string | undefined, from = request) => parseJobPage(header, from);

describe("a job's page", () => {
  test.each([
    [`<${page}>; ${html}`],
    [`<${page}>;rel=alternate;type=text/html`],
    [`<${page}> ; REL = "Alternate" ; TYPE = "Text/HTML"`],
    [`<${page}>; type="text/html"; title="a, b; c > \\"d\\""; rel="alternate"`],
    [`<${page}>; rel="self  Alternate"; type=text/html`],
    [`</other>; rel="next", <${page}>; ${html}`],
    [`</other>; rel="alternate"; type="application/json", <${page}>; ${html}`],
    [`, ,<${page}>; ${html},`],
    [`<${page}>;rel=alternate ;type=text/html , </x>`],
    [`<${page}>; ${html}; hreflang=en; foo; ; bar=`],
    [`<https://evil.example/x>; ${html}, <${page}>; ${html}`],
    [`</jobs/1>; ${html}`],
    [`<//agents.example.com/jobs/1>; ${html}`],
    [`<../../../../../jobs/1>; ${html}`],
    [`<HTTPS://AGENTS.example.com:443/jobs/1>; ${html}`],
  ])("is named by %s", (header) => {
    expect(parse(header)).toBe(page);
  });

  test("may be relative to the address of the request", () => {
    expect(parse(`<page?x=1#y>; ${html}`)).toBe("https://agents.example.com/api/v2/agent/docs/job/page?x=1#y");
    expect(parse(`<>; ${html}`)).toBe(request.href);
  });

  test("may have an address of 4,096 characters", () => {
    const long = page.padEnd(4096, "x");
    expect(parse(`<${long}>; ${html}`)).toBe(long);
  });

  test("may be on a loopback host", () => {
    const local = new URL("http://127.0.0.1:8700/v2/agent/docs/job");
    expect(parse(`</jobs/1>; ${html}`, local)).toBe("http://127.0.0.1:8700/jobs/1");
    expect(parse(`<http://127.0.0.1:8701/jobs/1>; ${html}`, local)).toBeUndefined();
    expect(parse(`<http://localhost:8700/jobs/1>; ${html}`, local)).toBeUndefined();
  });

  test.each([
    [undefined],
    [""],
    ["x"],
    [`${page}; ${html}`],
    [`<${page}; ${html}`],
    [`<${page}>`],
    [`<${page}>; rel="alternate"`],
    [`<${page}>; type="text/html"`],
    [`<${page}>; rel="alternate"; type="text/plain"`],
    [`<${page}>; rel="alternates"; type="text/html"`],
    [`<${page}>; rel="next"; rel="alternate"; type="text/html"`],
    [`<${page}>; rel="alternate"; type="text/plain"; type="text/html"`],
    [`<${page}>; rev="alternate"; type="text/html"`],
    [`<${page}>; ${html}; anchor="https://agents.example.com/other"`],
    [`<${page}>; title="x; ${html}`],
    [`<${page}>; title="; rel=alternate; type=text/html"`],
    [`<${page}>; ${html} x`],
    [`x, <${page}>; ${html}`],
    [`</a>; rel="next" x, <${page}>; ${html}`],
  ])("is not named by %s", (header) => {
    expect(parse(header)).toBeUndefined();
  });

  test.each([
    "http://agents.example.com/jobs/1",
    "https://agents.example.com:8443/jobs/1",
    "https://agents.example.com.evil.example/jobs/1",
    "https://evil.example/jobs/1",
    "//evil.example/jobs/1",
    "\\\\evil.example\\jobs",
    "/\\evil.example",
    "https://user@agents.example.com/jobs/1",
    "https://user:password@agents.example.com/jobs/1",
    "https://:password@agents.example.com/jobs/1",
    "javascript:alert(1)",
    "data:text/html,x",
    "blob:https://agents.example.com/x",
    "ftp://agents.example.com/x",
    "mailto:x@agents.example.com",
    "https://[/",
    "/jobs/1 2",
    "/jobs/\u00011",
    page.padEnd(4097, "x"),
  ])("is never %s", (target) => {
    expect(parse(`<${target}>; ${html}`)).toBeUndefined();
  });

  test("is on the service's own origin, for any header", () => {
    const part = fc.constantFrom("<", ">", ";", ",", '"', "\\", "=", " ", "//", "@", ":", html, "evil.example", "/x");
    fc.assert(
      fc.property(
        fc.oneof(
          hostileText,
          fc.array(part).map((parts) => parts.join("")),
        ),
        (text) => {
          for (const header of [text, `<${text}>; ${html}`, `</x>; title="${text}"; ${html}`]) {
            const url = parse(header);
            if (url === undefined) continue;
            expect(new URL(url).origin).toBe(request.origin);
            expect(url).not.toMatch(/@.*agents\.example\.com|[\s<>"]/);
          }
        },
      ),
    );
  });

  test("is found in time that grows with the length of the header", () => {
    for (const text of ["<", "<>", "<>;", '<>;a="', "<>;a=\\", " ", ";", ",", `<>;a="${"\\".repeat(9)}`]) {
      expect(parse(text.repeat(100_000))).toBeUndefined();
    }
  });
});
