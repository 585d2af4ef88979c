import { expect, test } from "vitest";
import { describeAsked } from "../../../src/pulls/asked-by.ts";

const gitHub = { apiUrl: "https://api.github.com", owner: "acme", name: "docs" };
const run = "https://github.com/acme/docs/actions/runs/5";
const thread = "https://github.com/Acme/docs/issues/20";
const runLink = `[run](${run})`;

test.each<[asked: object | undefined, said: string]>([
  [undefined, ""],
  [{}, ""],
  [{ by: "writer", in: thread }, ""],
  [{ run }, runLink],
  [{ by: "writer", run }, `Asked by [writer](https://github.com/writer) · ${runLink}`],
  [
    { by: "writer", in: thread, run: `${run}/attempts/2` },
    `Asked by [writer](https://github.com/writer) in [#20](${thread}) · [run](${run}/attempts/2)`,
  ],
  [{ by: "docs-bot[bot]", run }, `Asked by docs-bot[bot] · ${runLink}`],
  // Of another repository, another host, or nothing of the kind.
  [{ by: "writer", in: thread, run: "https://github.com/acme/secret/actions/runs/5" }, ""],
  [{ run: "https://evil.example/acme/docs/actions/runs/5" }, ""],
  [{ run: `${run}/../../../../x` }, ""],
  [{ run: `${run})[x](y` }, ""],
  [{ in: "https://github.com/acme/secret/issues/1", run }, runLink],
  [
    { in: "https://github.com/acme/docs/issues/1?q=fixes", run },
    `Asked in [#1](https://github.com/acme/docs/issues/1) · ${runLink}`,
  ],
  [{ by: "@all", run }, runLink],
  [{ by: "a](b)", run }, runLink],
  [{ by: 5, run }, ""],
])("%j is told as %j", (asked, said) => {
  expect(describeAsked(asked && JSON.stringify(asked), gitHub)).toBe(said);
});

test("an Enterprise Server has its pages on the host of its API", () => {
  const own = "https://ghe.example/acme/docs/actions/runs/5";
  expect(describeAsked(JSON.stringify({ run: own }), { ...gitHub, apiUrl: "https://ghe.example/api/v3" })).toBe(
    `[run](${own})`,
  );
});
