import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { EOL, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { runnerToolkit } from "../../src/action/runner/toolkit.ts";
import { root } from "../support/metadata.ts";
import { temporaryFolder } from "../support/step.ts";

const toolkit = resolve(root, "src/action/runner/toolkit.ts");

// A limit on the size of files stands in for a full disk: what fits is written, and the rest fails.
test.skipIf(process.platform === "win32")("a full disk leaves no half-written output behind", () => {
  const file = join(temporaryFolder(), "output");
  writeFileSync(file, "");
  const script = `
    import { runnerToolkit } from ${JSON.stringify(toolkit)};
    runnerToolkit.setOutput("job-id", "job_1");
    try {
      runnerToolkit.setOutput("model", "x".repeat(100_000));
    } catch (error) {
      console.log(error.code);
    }`;
  const shell = 'ulimit -f 8 && exec "$0" --input-type=module --eval "$1"';
  const printed = execFileSync("/bin/sh", ["-c", shell, process.execPath, script], {
    encoding: "utf8",
    env: { ...process.env, GITHUB_OUTPUT: file },
  });
  expect(printed.trim()).toBe("EFBIG");
  expect(readFileSync(file, "utf8")).toMatch(/^job-id<<(ghadelimiter_\S+)\njob_1\n\1\n$/);
});

/** Returns the text that `act` prints for the runner. */
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
  return text.replaceAll("\r\n", "\n");
}

/** Sets an environment variable until the test is over. */
function setVariable(name: string, value: string): void {
  vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
}

test("reads an input as it is, and an input that is not set as empty", () => {
  setVariable("INPUT_PROMPT", "  two\nlines \n");
  expect(runnerToolkit.input("prompt")).toBe("  two\nlines \n");
  expect(runnerToolkit.input("job-id")).toBe("");
});

test.each<[string, () => void, string]>([
  ["a line", () => runnerToolkit.info("hello"), "hello\n"],
  ["a debug line", () => runnerToolkit.debug("hello"), "::debug::hello\n"],
  ["a mask", () => runnerToolkit.mask("secret"), "::add-mask::secret\n"],
  ["a notice", () => runnerToolkit.annotate("notice", "Title", "a\nb"), "::notice title=Title::a%0Ab\n"],
  ["a warning", () => runnerToolkit.annotate("warning", "Title", "text"), "::warning title=Title::text\n"],
  ["an error", () => runnerToolkit.annotate("error", "Title", "text"), "::error title=Title::text\n"],
  ["the start of a group", () => runnerToolkit.startGroup("Title"), "::group::Title\n"],
  ["the end of a group", () => runnerToolkit.endGroup(), "::endgroup::\n"],
])("prints %s", (_name, act, text) => {
  expect(printed(act)).toBe(text);
});

test("stops commands around a line, each time until another token", () => {
  const line = () => printed(() => runnerToolkit.infoWithoutCommands("##[error]x"));
  expect(line()).toMatch(/^::stop-commands::([\w-]{36})\n##\[error\]x\n::\1::\n$/);
  expect(line()).not.toBe(line());
});

test("resumes commands even if the line cannot be printed", () => {
  const printing: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((chunk) => {
    printing.push(String(chunk));
    if (printing.length === 1) throw new Error("EPIPE");
    return true;
  });
  try {
    expect(() => runnerToolkit.infoWithoutCommands("##[error]x")).toThrow("EPIPE");
  } finally {
    write.mockRestore();
  }
  expect(printing.at(-1)).toMatch(/^::[\w-]{36}::\r?\n$/);
});

test("appends outputs to the runner's file", () => {
  const file = join(temporaryFolder(), "output");
  writeFileSync(file, "");
  setVariable("GITHUB_OUTPUT", file);
  runnerToolkit.setOutput("job-id", "job_1");
  runnerToolkit.setOutput("status", "two\nlines");
  const text = readFileSync(file, "utf8").replaceAll("\r\n", "\n");
  expect(text).toMatch(/^job-id<<(\S+)\njob_1\n\1\nstatus<<(\S+)\ntwo\nlines\n\2\n$/);
});

test("an output that fails halfway leaves the runner's file as it was", () => {
  const file = join(temporaryFolder(), "output");
  writeFileSync(file, "before");
  setVariable("GITHUB_OUTPUT", file);
  const failsHalfway = {
    toJSON: () => {
      appendFileSync(file, "half of an output");
      throw new Error("the disk is full");
    },
  };
  expect(() => runnerToolkit.setOutput("job-id", failsHalfway as never)).toThrow("the disk is full");
  expect(readFileSync(file, "utf8")).toBe("before");
});

test("an output fails if the runner's file is missing", () => {
  setVariable("GITHUB_OUTPUT", join(temporaryFolder(), "missing"));
  expect(() => runnerToolkit.setOutput("job-id", "job_1")).toThrow("Missing file at path");
});

test("an output without a file is printed, which old runners read", () => {
  setVariable("GITHUB_OUTPUT", "");
  expect(printed(() => runnerToolkit.setOutput("job-id", "job_1"))).toBe("\n::set-output name=job-id::job_1\n");
});

test("appends to the job summary", async () => {
  // The library remembers the file, so it is the same whenever this test runs.
  const file = join(tmpdir(), `agent-job-summary-${process.pid}.md`);
  writeFileSync(file, "before\n");
  onTestFinished(() => rmSync(file));
  setVariable("GITHUB_STEP_SUMMARY", file);
  await runnerToolkit.writeSummary("<h2>One</h2>");
  await runnerToolkit.writeSummary("<h2>Two</h2>");
  expect(readFileSync(file, "utf8")).toBe(`before\n<h2>One</h2>${EOL}<h2>Two</h2>${EOL}`);
});
