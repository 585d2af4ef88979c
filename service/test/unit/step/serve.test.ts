import { expect, test } from "vitest";
import { plain } from "../../../../src/runner-kit/text.ts";
import { explainStart } from "../../../step/serve.ts";

test("what the service says of an option that a step lacks names what can be done", () => {
  const { title, text } = explainStart(new Error("the repository has no default branch: choose one with --base"));
  expect([title, plain(text)]).toEqual([
    "The agent service cannot start",
    "the repository has no default branch. Push a first commit to it, or choose its default branch in its settings on GitHub.\nNothing was started.",
  ]);
});
