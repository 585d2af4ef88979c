import { expect, test } from "vitest";
import { createLinePrinter } from "../../../src/log/line-printer.ts";

test("goes on after lines that could not be printed, and says how many are missing", () => {
  let output = "";
  let space = 8;
  const print = createLinePrinter((bytes) => {
    if (space === 0) throw Object.assign(new Error("full"), { code: "ENOSPC" });
    const written = bytes.subarray(0, Math.min(space, 5));
    space -= written.length;
    output += written.toString();
    return written.length;
  });
  print("first");
  for (const line of ["second", "third"]) print(line);
  expect(output).toBe("first\nse");
  space = 1000;
  print("fourth");
  print("fifth");
  expect(output).toBe("first\nse\n(Lines that could not be written here: 2)\nfourth\nfifth\n");
});
