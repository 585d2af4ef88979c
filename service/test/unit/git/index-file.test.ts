import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/support/step.ts";
import { readIndex } from "../../../src/git/index-file.ts";

/** The index of an agent, which says that it has so many entries. */
function write(version: number, count: number, entries: Buffer): string {
  const header = Buffer.alloc(12);
  header.write("DIRC");
  header.writeUInt32BE(version, 4);
  header.writeUInt32BE(count, 8);
  const file = join(temporaryFolder(), "index");
  writeFileSync(file, Buffer.concat([header, entries]));
  return file;
}

test.each<[what: string, version: number, count: number, entries: Buffer]>([
  ["has another version", 4, 0, Buffer.alloc(0)],
  ["ends before its entries", 2, 4_000_000_000, Buffer.alloc(0)],
  // A reader that goes on would read the same bytes for ever.
  ["has a path without an end", 2, 1000, Buffer.alloc(100, 1)],
])("an index that %s is refused", async (_, version, count, entries) => {
  await expect(readIndex(write(version, count, entries))).rejects.toThrow();
});
