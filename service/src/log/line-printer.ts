import { writeSync } from "node:fs";

const stdout = 1;

/**
 * Returns a function that prints a line to stdout and never throws: a service must not end because its log is on a full disk,
 * or because the program that reads it has ended. Lines that cannot be printed are counted, and the next one says how many
 * are missing. Nothing else may write to `process.stdout`, which fails for good after its first error.
 *
 * @param write - writes bytes, and returns how many it has written
 * @param describe - returns the line that says how many are missing
 */
export function createLinePrinter(
  write = (bytes: Buffer): number => writeSync(stdout, bytes),
  describe = (missing: number): string => `(Lines that could not be written here: ${missing})`,
): (line: string) => void {
  let missing = 0;
  return (line) => {
    // The previous line may have been cut off.
    const note = missing === 0 ? "" : `\n${describe(missing)}\n`;
    try {
      for (let rest = Buffer.from(`${note}${line}\n`); rest.length > 0; rest = rest.subarray(write(rest)));
      missing = 0;
    } catch {
      missing++;
    }
  };
}
