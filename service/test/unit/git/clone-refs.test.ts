import { expect, test } from "vitest";
import { parseFetched, parseRefs, parseRemoteRefs } from "../../../src/git/clone-refs.ts";

const [one, two] = ["1".repeat(40), "2".repeat(40)];

test("finds the heads of a repository and its default branch", () => {
  const output = [
    "ref: refs/heads/next\tHEAD",
    `${one}\tHEAD`,
    `${two}\trefs/heads/agent/job_1`,
    `${one}\trefs/heads/main`,
    "ref: refs/heads/main\trefs/heads/other/HEAD",
    `${one}\trefs/heads/other/HEAD`,
    "",
  ].join("\n");
  expect(parseRemoteRefs(output)).toEqual({
    heads: new Map([
      ["agent/job_1", two],
      ["main", one],
      ["other/HEAD", one],
    ]),
    defaultBranch: "next",
  });
});

test("finds no default branch if HEAD is no branch", () => {
  expect(parseRemoteRefs(`${one}\tHEAD\n${one}\trefs/heads/main\n`).defaultBranch).toBeUndefined();
  expect(parseRemoteRefs("ref: refs/heads/main\trefs/heads/other/HEAD\n")).toEqual({
    heads: new Map(),
    defaultBranch: undefined,
  });
  expect(parseRemoteRefs("")).toEqual({ heads: new Map(), defaultBranch: undefined });
});

test("finds the heads of a clone", () => {
  const output = `${one} refs/heads/a\n${two} refs/heads/b\n${two} refs/remotes/origin/HEAD\n`;
  expect(parseRefs(output, " ")).toEqual(new Map(Object.entries({ a: one, b: two })));
});

test("finds the heads that were fetched, with quotes in names and addresses", () => {
  const output = [
    `${one}\t\tbranch 'main' of /docs' of 1`,
    `${two}\tnot-for-merge\tbranch 'it's/x' of /docs' of 1`,
    `${two}\t\t/docs' of 1`,
    "",
  ];
  expect(parseFetched(output.join("\n"))).toEqual({
    heads: new Map([
      ["main", one],
      ["it's/x", two],
    ]),
    head: two,
  });
  expect(parseFetched("")).toEqual({ heads: new Map(), head: undefined });
});
