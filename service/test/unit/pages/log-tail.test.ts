import { expect, test } from "vitest";
import { readLogTail } from "../../../src/pages/log-tail.ts";
import { MemoryLogs } from "../../support/memory-logs.ts";

function setUp(log: string | Buffer): MemoryLogs {
  const logs = new MemoryLogs();
  logs.add("job_1", log);
  return logs;
}

test("a log that is not longer is shown as a whole", async () => {
  const text = "| é\n| ✓";
  const position = Buffer.byteLength(text);
  expect(await readLogTail(setUp(text), "job_1", position)).toEqual({ text, position, isCut: false });
  expect(await readLogTail(new MemoryLogs(), "job_1", 10)).toEqual({ text: "", position: 0, isCut: false });
});

test("the end of a longer log begins with a line, wherever it is cut", async () => {
  const logs = setUp("| one ✓✓\n| two é\n| three\n");
  for (let bytes = 1; bytes < 30; bytes++) {
    logs.maxReadBytes = 1 + (bytes % 5);
    const { text, position, isCut } = await readLogTail(logs, "job_1", bytes);
    expect(["", "| three\n", "| two é\n| three\n"]).toContain(text);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytes);
    expect({ position, isCut }).toEqual({ position: 30, isCut: true });
  }
  expect((await readLogTail(logs, "job_1", 20)).text).toBe("| two é\n| three\n");
});

test("the end of a log with one long line is cut between characters", async () => {
  const logs = setUp("✓".repeat(10));
  expect((await readLogTail(logs, "job_1", 8)).text).toBe("✓✓");
});

test("the beginning of a character at the end is left to who reads on", async () => {
  const logs = setUp(Buffer.from("| ✓").subarray(0, 4));
  expect(await readLogTail(logs, "job_1", 10)).toEqual({ text: "| ", position: 2, isCut: false });
});

test("a log that grows while it is read ends somewhere", async () => {
  const logs = setUp("x".repeat(100));
  logs.maxReadBytes = 10;
  logs.gate = async () => logs.add("job_1", "y".repeat(10));
  const { text, position } = await readLogTail(logs, "job_1", 50);
  expect(position).toBe(170);
  expect(text).toHaveLength(110);
});
