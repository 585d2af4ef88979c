import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type EventFormat, eventFormats } from "../../../src/agents/event-lines.ts";
import { parseEvents } from "../../../src/agents/events.ts";
import { FinalEvent } from "../../../src/agents/final-event.ts";

const recorded = (format: EventFormat, output = "change") =>
  parseEvents(readFileSync(join(import.meta.dirname, "output", `${format}-${output}.txt`), "utf8"));

function finalOf(format: EventFormat, events: readonly Readonly<Record<string, unknown>>[]) {
  const final = new FinalEvent(format);
  for (const event of events) final.add(event);
  return final.event;
}

describe.each(eventFormats)("%s", (format) => {
  test("has no final event before its last one, which counts whatever it says", () => {
    for (const output of ["change", "failure"]) {
      const events = recorded(format, output);
      const counts = events.map((_, index) => finalOf(format, events.slice(0, index + 1)) !== undefined);
      expect(counts.lastIndexOf(false)).toBeLessThan(events.length - 1);
      expect(counts.at(-1)).toBe(true);
      // No event of the agent's work counts as its end.
      expect(counts.slice(0, Math.floor(counts.length / 2))).not.toContain(true);
    }
  });

  test("has none while it goes on after it, and then the last one", () => {
    const events = recorded(format);
    const first = finalOf(format, events);
    const work = events.slice(-4, -1);
    expect(finalOf(format, [...events, ...work.slice(0, 2)])).toBeUndefined();
    expect(finalOf(format, [...events, ...events])).toEqual(first);
  });

  test("is not moved by what is no work, or no event", () => {
    const events = recorded(format);
    const noise = [{}, { type: 1 }, { type: "system", subtype: "hook_response" }, { type: "rate_limit_event" }];
    expect(finalOf(format, [...events, ...noise])).toEqual(finalOf(format, events));
  });
});

test.each<[EventFormat, string | undefined]>([
  ["claude", "claude-opus-5-5, Claude Code 2.1.330"],
  ["copilot", "claude-sonnet-4.6"],
  ["gemini", undefined],
  ["codex", undefined],
  ["opencode", undefined],
])("%s says that it uses the model %s", (format, model) => {
  const final = new FinalEvent(format);
  for (const event of recorded(format)) final.add(event);
  expect(final.model).toBe(model);
});

test("a model named by a sub-agent is not the turn's", () => {
  const final = new FinalEvent("claude");
  const init = (session_id: string, model: string) => ({ type: "system", subtype: "init", session_id, model });
  for (const event of [init("own", "large"), init("other", "small")]) final.add(event);
  expect(final.model).toBe("large");
});

test("events of sub-agents, which have sessions of their own, neither end nor continue a turn", () => {
  const own = { session_id: "own" };
  const other = { session_id: "other" };
  const result = { type: "result", subtype: "success", ...own };
  expect(
    finalOf("claude", [
      { type: "system", ...own },
      { type: "result", ...other },
    ]),
  ).toBeUndefined();
  expect(finalOf("claude", [{ type: "system", ...own }, result, { type: "assistant", ...other }])).toBe(result);
  expect(finalOf("claude", [{ type: "system", ...own }, result, { type: "assistant", ...own }])).toBeUndefined();
});

test("OpenCode's end of a step is one of its turn only if the model is not asked again", () => {
  const step = (reason?: string) => ({ type: "step_finish", part: { reason } });
  expect(finalOf("opencode", [step("tool-calls")])).toBeUndefined();
  expect(finalOf("opencode", [step()])).toBeUndefined();
  expect(finalOf("opencode", [step("tool-calls"), step("stop")])).toEqual(step("stop"));
  expect(finalOf("opencode", [step("length")])).toEqual(step("length"));
});

test.each(eventFormats)("%s has worked once its model has said a word or used a tool, not before", (format) => {
  const hasWorked = (output: string) => {
    const final = new FinalEvent(format);
    for (const event of recorded(format, output)) final.add(event);
    return final.hasWorked;
  };
  expect([hasWorked("change"), hasWorked("failure")]).toEqual([true, false]);
});
