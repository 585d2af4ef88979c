import { expect, test } from "vitest";
import { message, say, type Text } from "../../../src/runner-kit/text.ts";

test("a message has its title, what happened and what to do next on lines of their own", () => {
  expect(message`
    Job failed
    Job ${"job_1"} failed after ${2} turns.
    Start ${say`another ${"one"}`}.`).toEqual({
    title: "Job failed",
    what: ["Job ", { untrusted: "job_1" }, " failed after ", "2", " turns."],
    next: ["Start ", "another ", { untrusted: "one" }, "."],
  });
});

test("an untrusted text begins no line of a message", () => {
  const { what, next } = message`
    Title
    It says ${"a\nb"}`;
  expect({ what, next }).toEqual({ what: ["It says ", { untrusted: "a\nb" }], next: [] });
});

test("an empty sentence leaves no space in a message, wherever it is", () => {
  const none: Text = [];
  const { what, next } = message`
    Title
    ${none} One. ${none} Two. ${none}
    ${none} ${none}`;
  expect([what.join(""), next]).toEqual(["One. Two.", []]);
});
