import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { parseOutputs } from "../../../../tools/runner.ts";
import { runner } from "../../../step/runner.ts";

/** Returns the lines that the runner reads from stdout. */
function printed(act: () => void): string {
  let text = "";
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    text += chunk;
    return true;
  });
  try {
    act();
  } finally {
    write.mockRestore();
  }
  return text;
}

/** Sets an environment variable until the test is over. */
function setVariable(name: string, value: string): void {
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test("reads inputs without spaces around them, and one that is not set as empty", () => {
  setVariable("INPUT_GITHUB-TOKEN", " token\n");
  expect(runner.input("github-token")).toBe("token");
  expect(runner.input("agent")).toBe("");
});

test("reads what main has saved, and whether the run is debugged", () => {
  setVariable("STATE_folder", "/temp/service");
  expect(runner.state("folder")).toBe("/temp/service");
  expect(runner.state("process")).toBe("");
  setVariable("RUNNER_DEBUG", "");
  expect(runner.isDebug()).toBe(false);
  setVariable("RUNNER_DEBUG", "1");
  expect(runner.isDebug()).toBe(true);
});

test.each([
  ["GITHUB_OUTPUT", () => runner.setOutput("base-url", "http://127.0.0.1"), { "base-url": "http://127.0.0.1" }],
  ["GITHUB_STATE", () => runner.saveState("process", "42"), { process: "42" }],
])("writes to the file of %s", (variable, act, values) => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  setVariable(variable, file);
  act();
  expect(parseOutputs(readFileSync(file, "utf8"))).toEqual(values);
});

test.each<[string, () => void, string]>([
  ["a mask", () => runner.mask("secret"), "::add-mask::secret\n"],
  ["a line, without its commands", () => runner.info("::error::x ##[error]y"), "\\::error::x ##\\[error]y\n"],
  ["a notice", () => runner.annotate("notice", "Title", "a\nb"), "::notice title=Title::a%0Ab\n"],
  ["a warning", () => runner.annotate("warning", "Title", "text"), "::warning title=Title::text\n"],
  ["an error", () => runner.annotate("error", "Title", "text"), "::error title=Title::text\n"],
  [
    "a group, without the commands in its lines",
    () => runner.group("Log of job_1", ["one", "::error::x", "##[error]y"]),
    "::group::Log of job_1\none\n\\::error::x\n##\\[error]y\n::endgroup::\n",
  ],
])("prints %s", (_name, act, text) => {
  expect(printed(act)).toBe(text);
});
