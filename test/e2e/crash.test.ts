import { expect, test } from "vitest";
import { outputNames } from "../support/metadata.ts";
import { inputsFor, startScriptedService } from "../support/scripted-service.ts";
import { step } from "../support/step.ts";

/** Loaded before the action: throws an error that nothing handles when the step says that it waits. */
const bug = `
  const write = process.stdout.write;
  process.stdout.write = function (text, ...others) {
    if (String(text).includes("Waiting up to")) setImmediate(() => { throw new TypeError("this is a bug"); });
    return write.call(this, text, ...others);
  };
`;

test("an error outside of everything that would handle it: the outputs have the outcome error and the job id", async () => {
  await using service = await startScriptedService({ script: () => ({ durationMs: 60_000 }) });
  const { exitCode, outputs, annotations, lines } = await step(inputsFor(service), {
    environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(bug)}` },
  });
  expect(exitCode).toBe(1);
  expect(Object.keys(outputs).sort()).toEqual(outputNames().sort());
  expect(outputs).toMatchObject({ outcome: "error", "job-id": expect.stringMatching(/^job_/) });
  expect(annotations).toEqual([
    expect.stringMatching(
      /^error Internal error: The action crashed: this is a bug\. .*it may be running.*Report this/s,
    ),
  ]);
  const debug = lines.flatMap((line) => (line.kind === "command" && line.name === "debug" ? line.data : []));
  expect(debug).toContainEqual(expect.stringContaining("TypeError: this is a bug"));
});
