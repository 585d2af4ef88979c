import { expect, test, vi } from "vitest";
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

test.each<[string, () => void, string]>([
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
