import { expect, test } from "vitest";
import { OutageLog } from "../../../src/log/outage-log.ts";

test("logs and counts an outage once, however often it is noticed, and its end once", () => {
  const lines: unknown[][] = [];
  const outages = { count: 0 };
  const log = new OutageLog(
    (...line) => void lines.push(line),
    () => outages.count++,
  );
  log.end("works again");
  for (const reason of ["first", "second"]) log.begin(reason);
  expect(log.isOut).toBe(true);
  for (let round = 0; round < 2; round++) log.end("works again");
  expect(log.isOut).toBe(false);
  expect(lines).toEqual([["first", "warn"], ["works again"]]);
  log.begin("third");
  expect(outages.count).toBe(2);
});
