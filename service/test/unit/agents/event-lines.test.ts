import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type EventFormat, EventLines } from "../../../src/agents/event-lines.ts";

/** Renders what an agent printed when it was run with the scripted model. */
function render(format: EventFormat, output: string): string[] {
  const text = readFileSync(join(import.meta.dirname, "output", `${format}-${output}.txt`), "utf8");
  const lines = new EventLines(format);
  return [
    ...text
      .trimEnd()
      .split("\n")
      .flatMap((line) => lines.add(line)),
    ...lines.end(),
  ];
}

test("an agent's words and uses of tools are lines that a person can follow", () => {
  expect(render("claude", "change")).toEqual([
    "Model: claude-opus-5-5, Claude Code 2.1.330",
    "I will write.",
    "→ Write /job/tree/note.md",
    expect.stringMatching(/^← File created successfully at: \/job\/tree\/note\.md/),
    "Done. Final @words of #1 the agent.",
  ]);
  expect(render("codex", "change")).toEqual([
    "I will write.",
    expect.stringMatching(/^→ \/bin\/bash -lc "printf/),
    "Done. Final @words of #1 the agent.",
    expect.stringMatching(/^Tokens: \d+ read, \d+ written$/),
  ]);
  expect(render("gemini", "change")).toEqual([
    "Model: auto",
    "I will write.",
    "→ write_file /job/tree/note.md",
    "Done. Final @words of #1 the agent.",
    expect.stringMatching(/^Tokens: \d+ read, \d+ written$/),
  ]);
  expect(render("opencode", "change")).toEqual([
    "I will write.",
    "→ write /job/tree/note.md",
    "← Wrote file successfully.",
    "Done. Final @words of #1 the agent.",
  ]);
  expect(render("copilot", "change")).toEqual([
    "Model: claude-sonnet-4.6",
    "I will write the file.",
    "→ create /job/tree/note.md",
    "← Created file /job/tree/note.md with 7 characters",
    "Done. Final @words of #1 the agent.",
    "Premium requests: 1",
  ]);
});

test.each<EventFormat>(["claude", "codex", "copilot", "gemini", "opencode"])("an error of %s is a line", (format) => {
  expect(render(format, "failure").join("\n")).toContain("scripted failure");
});

test("claude's retries and its last error are lines", () => {
  const lines = new EventLines("claude");
  const add = (event: object) => lines.add(JSON.stringify(event));
  expect(add({ type: "system", subtype: "api_retry", error: "overloaded" })).toEqual(["api_retry: overloaded"]);
  const result = { type: "result", subtype: "error_during_execution", is_error: true };
  expect(add({ ...result, result: "No more credit" })).toEqual(["Error: No more credit"]);
  expect(add(result)).toEqual(["Error: error_during_execution"]);
});

test("what is no event stays as it is, and what is unknown has no line", () => {
  const lines = new EventLines("claude");
  expect(lines.add("plain text")).toEqual(["plain text"]);
  expect(lines.add('{"cut off')).toEqual(['{"cut off']);
  for (const event of [
    "{}",
    '{"type":"new"}',
    '{"type":"assistant","message":5}',
    '{"type":"user","message":{"content":[null]}}',
  ])
    expect(lines.add(event)).toEqual([]);
});

test("words that come in pieces are put together, up to the next event", () => {
  const lines = new EventLines("gemini");
  const say = (content: string) => lines.add(JSON.stringify({ type: "message", role: "assistant", content }));
  expect(say("I will ")).toEqual([]);
  expect(say("write.\nAnd")).toEqual(["I will write."]);
  expect(lines.add('{"type":"tool_result","status":"error","output":"no such file"}')).toEqual([
    "And",
    "← error: no such file",
  ]);
  expect(lines.end()).toEqual([]);
});

test("long arguments are cut, and line ends shown", () => {
  const lines = new EventLines("codex");
  const [line = ""] = lines.add(
    JSON.stringify({ type: "item.started", item: { type: "command_execution", command: `a\nb ${"x".repeat(400)}` } }),
  );
  expect(line).toMatch(/^→ a ⏎ b x+…$/);
  expect(line.length).toBeLessThan(310);
});
