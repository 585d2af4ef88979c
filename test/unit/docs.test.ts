import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { requirements } from "../../tools/conform/requirements.ts";
import { root } from "../support/metadata.ts";
import { rememberedFailures, shownFailures } from "../support/shown-failures.ts";
import { pages } from "../support/workflows.ts";

const page = readFileSync(resolve(root, "docs/reliability.md"), "utf8");
const rows = [...page.matchAll(/^\| (?!failure \||---)(.+?) \| .+ \|$/gm)].map(([, failure]) => failure);

test("the tables of failures have the failures that tests show", () => {
  const known = shownFailures.map(({ failure }) => failure);
  expect(rows.slice(-known.length)).toEqual(known);
  expect(known.length).toBeGreaterThan(25);
  expect(shownFailures.filter(({ file }) => file === undefined).map(({ failure }) => failure)).toEqual([
    "a gateway sends a create again by itself, such as HAProxy with `retry-on all-retryable-errors`",
  ]);
});

test.each([...shownFailures, ...rememberedFailures].filter(({ file }) => file !== undefined))(
  "the test that shows it exists: $failure",
  ({ file = "", name = "" }) => {
    const path = file.startsWith("service/") ? file.replace("/", "/test/") : `test/${file}`;
    const text = readFileSync(resolve(root, `${path}.test.ts`), "utf8");
    const start = text.indexOf(`"${name}"`);
    expect(start).toBeGreaterThan(0);
    // A test that is always skipped shows nothing. Without signals, Windows has no such failure.
    const call = text.slice(text.slice(0, start).search(/\btest(?![\s\S]*\btest\b)/), start);
    expect(call).not.toMatch(/\.(skip|todo|fails)\b/);
    for (const [, condition] of text.matchAll(/\.(?:skipIf|runIf)\(([^\n]*?)\)\(/g))
      expect(condition).toMatch(/^(process\.platform === "win32"|!?hasSignals)$/);
  },
);

const pagesWithLinks = [
  ...pages(),
  "CONTRIBUTING.md",
  "AGENTS.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "test/README.md",
  "service/test/README.md",
  "bench/README.md",
  "bench/results.md",
  "service/bench/README.md",
  "service/bench/results.md",
  "service/bench/scale-results.md",
];

/** Anchors of a page's headings, as GitHub makes them. */
function anchorsOf(path: string): string[] {
  const headings = readFileSync(resolve(root, path), "utf8").match(/^#+ .*$/gm) ?? [];
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test.each(pagesWithLinks)("every link of %s leads to a file and a heading that exist", (page) => {
  const links = [...readFileSync(resolve(root, page), "utf8").matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)];
  for (const [link, path = "", anchor] of links) {
    const target = path === "" ? page : join(dirname(page), path);
    expect(existsSync(resolve(root, target)), link).toBe(true);
    if (anchor !== undefined) expect(anchorsOf(target), link).toContain(anchor);
  }
});

test("what a service is checked for stands under a heading of the protocol", () => {
  const anchors = anchorsOf("docs/protocol.md");
  for (const { section } of Object.values(requirements)) expect(anchors).toContain(section);
});
