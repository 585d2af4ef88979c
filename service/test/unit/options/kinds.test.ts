import { expect, test } from "vitest";
import { amount, choice, flag, integer, type Kind, text, texts, variableNames } from "../../../src/options/kinds.ts";

/** Reads a value in both of its forms. `undefined` stands for an error. */
function readBoth(kind: Kind<unknown>, given: readonly string[], json: unknown) {
  const inJson = kind.json.safeParse(json);
  let parsed: unknown;
  try {
    parsed = kind.parse("--option", given);
  } catch {}
  return [parsed, inJson.success ? inJson.data : undefined];
}

test.each<[string, Kind<unknown>, unknown[], unknown[]]>([
  ["an integer from 2 to 5", integer(2, 5), [2, 5], [1, 6, 2.5, -2]],
  ["an amount", amount, [0.001, 1, 10_000], [0, -1, 10_001, 10_000.1]],
  ["a choice", choice(["one", "two"]), ["one", "two"], ["", "three", "One"]],
])("%s has the same values on the command line and in JSON", (_name, kind, valid, invalid) => {
  for (const value of valid) expect(readBoth(kind, [String(value)], value)).toEqual([value, value]);
  for (const value of invalid) expect(readBoth(kind, [String(value)], value)).toEqual([undefined, undefined]);
});

test("texts are given one by one, and are a list in JSON", () => {
  expect(readBoth(text("a text"), ["a"], "a")).toEqual(["a", "a"]);
  expect(text("a text").json.safeParse(" a\n").data).toBe("a");
  expect(variableNames.json.safeParse(["A\n"]).data).toEqual(["A"]);
  for (const kind of [texts("a text"), variableNames])
    expect(readBoth(kind, ["A", "B"], ["A", "B"])).toEqual([
      ["A", "B"],
      ["A", "B"],
    ]);
  expect(readBoth(flag, [], true)).toEqual([true, true]);
});

test("a number on the command line has only digits", () => {
  for (const given of ["", "1e1", " 3", "0x3", "+3"]) {
    expect(() => integer(1, 99).parse("--port", [given])).toThrow("--port must be an integer from 1 to 99.");
    expect(() => amount.parse("--days", [given])).toThrow("--days must be a number greater than 0 and at most 10000.");
  }
});
