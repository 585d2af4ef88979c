import { expect, test } from "vitest";
import { startNote } from "../../../src/turns/log-notes.ts";

test.each([
  [{ id: 7, step: "", request: "r" }, "Turn 7 started."],
  [{ id: 7, step: "abc", request: "def" }, "Turn 7 started. Its request is def."],
  [{ id: 1_795_354_011_232_344, step: "abc", request: "def" }, "The turn started. Its request is def."],
])("a log says that %o started, without an id that is a time", (turn, text) => {
  expect(startNote(turn)).toBe(text);
});
