import { expect, test } from "vitest";
import { pullRequestTitle } from "../../../src/pulls/pull-request-title.ts";

const at = Date.UTC(2026, 10, 22, 23, 59);
const titled = (answer: string | null) => pullRequestTitle("Update the docs\nand more", answer, at);

test.each([
  ["I updated the quickstart for 2.0.\n\nDetails", "I updated the quickstart for 2.0."],
  ["\n\n## **Summary** of the changes\n- one", "Summary of the changes"],
  ["> - quoted list item", "quoted list item"],
  ["Fixes #12 for @octocat [skip ci]", "Fixes #\u200b12 for @\u200boctocat (skip ci)"],
])("is the first line of what the agent said, as inert text (%j)", (answer, title) => {
  expect(titled(answer)).toBe(title);
});

test("is at most as long as a commit's subject", () => {
  expect(titled("word ".repeat(100)).length).toBeLessThanOrEqual(72);
});

test.each([null, "", " \n", "Done.", "Here is what I did:", "**"])(
  "is the prompt's first line with the day, if the agent said too little (%j)",
  (answer) => {
    expect(titled(answer)).toBe("Update the docs (2026-11-22)");
  },
);
