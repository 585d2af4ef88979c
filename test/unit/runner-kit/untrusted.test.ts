import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { say } from "../../../src/runner-kit/text.ts";
import { code, excerpt, forAnnotation, forHtml, forLog, textToHtml } from "../../../src/runner-kit/untrusted.ts";
import { readLog } from "../../../tools/commands.ts";
import { hostileText } from "../../support/hostile-text.ts";

describe("forLog", () => {
  test("returns one line without commands for any text", () => {
    fc.assert(
      fc.property(hostileText, fc.constantFrom("", "  ", "00:05  "), (text, prefix) => {
        const { line } = forLog(prefix + text);
        expect(readLog(line)).toEqual(line === "" ? [] : [{ kind: "text", text: line }]);
        expect(line).not.toMatch(/(?!\t)\p{Cc}|[\u2028\u2029\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 2000 },
    );
  });

  test("keeps escaped text readable", () => {
    expect(forLog("a\u001b[31m\r##[error]x").line).toBe("a\\u{1b}[31m\\u{d}##\\[error]x");
    expect(forLog(" ::error::x").line).toBe(" \\::error::x");
    expect(forLog("http://[::1]:80 a::b").line).toBe("http://[::1]:80 a::b");
  });

  test.each([
    "::error::x",
    "  ::add-mask::x",
    "\t::set-output name=a::b",
    "##[error]x",
    "a ##[add-mask]x",
    "##[x]##[y]",
  ])("makes the command in %j harmless", (text) => {
    const { line, hasCommand } = forLog(text);
    expect(hasCommand).toBe(true);
    expect(line).not.toMatch(/^\s*::|##\[/);
    expect(readLog(line)).toEqual([{ kind: "text", text: line }]);
    expect(forAnnotation(say`first\n${text}`)).not.toMatch(/^\s*::|##\[/m);
  });

  test("shows invisible characters, except the joiner in emoji", () => {
    expect(forLog("a\u200bb\u2060c\u{e0041}d\u00ade").line).toBe("a\\u{200b}b\\u{2060}c\\u{e0041}d\\u{ad}e");
    expect(forLog("👩\u200d💻").line).toBe("👩\u200d💻");
  });

  test("truncates a megabyte of text", () => {
    expect(forLog("\n".repeat(1_000_000)).line.length).toBeLessThan(100_000);
    expect(forAnnotation(say`${"\n".repeat(1_000_000)}`).length).toBeLessThan(10_000);
  });

  test("says whether the runner would have found a command", () => {
    expect(forLog("##[group]x").hasCommand).toBe(true);
    expect(forLog("::group::x").hasCommand).toBe(true);
    expect(forLog("http://[::1]:80").hasCommand).toBe(false);
  });
});

describe("forAnnotation", () => {
  test("returns lines without commands, within the limit", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = forAnnotation(say`Service: ${text}\n${text}`);
        for (const line of shown.split("\n"))
          expect(readLog(line)).toEqual(line === "" ? [] : [{ kind: "text", text: line }]);
        expect(shown.length).toBeLessThanOrEqual(4096);
      }),
    );
    expect(forAnnotation(["x".repeat(5000)])).toHaveLength(4096);
    expect(forAnnotation(say`one\ntwo ${"three\nfour"}`)).toBe("one\ntwo three\\u{a}four");
    expect(forAnnotation(say`a ${"x".repeat(5000)} z`)).toMatch(/… z$/);
  });
});

describe("forHtml", () => {
  test("escapes markup, quotes and line ends in any text", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const html = forHtml(text, 1000);
        expect(html).not.toMatch(/[<>"'\n\r]/);
        expect(html.replaceAll(/&(amp|lt|gt|quot|#39|#10);/g, "")).not.toContain("&");
      }),
    );
  });

  test("formats only the untrusted parts of a sentence as code", () => {
    expect(textToHtml(say`Job ${"@acme <b>"} & co`)).toBe("Job <code>@acme &lt;b&gt;</code> &amp; co");
    expect(code("a\nb")).toBe("<code>a&#10;b</code>");
  });
});

test("an excerpt never ends within a character", () => {
  expect(excerpt("abc", 3)).toBe("abc");
  expect(excerpt("abcd", 3)).toBe("ab…");
  expect(excerpt("a😀😀", 3)).toBe("a…");
  expect(excerpt("a😀bc", 4)).toBe("a😀…");
  expect(excerpt("\ufffdabc", 3)).toBe("\ufffda…");
});
