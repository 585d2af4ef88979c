import { showReordering } from "./html.ts";

/**
 * Makes a job's log readable on a page, part by part. Characters that are split between parts stay whole, and control
 * characters that would change or reorder other text are removed or shown.
 */
export class LogText {
  #rest: Buffer = Buffer.alloc(0);

  /** Returns the text of a part, up to its last complete character. */
  add(part: Buffer): string {
    const bytes = Buffer.concat([this.#rest, part]);
    const end = bytes.length - incompleteBytes(bytes);
    this.#rest = bytes.subarray(end);
    return toText(bytes.subarray(0, end));
  }

  /** The number of bytes at the end of the parts that are not in any text yet. */
  get restBytes(): number {
    return this.#rest.length;
  }

  /** Returns the text of an incomplete character at the end of the log. Call it when no part follows. */
  end(): string {
    const text = toText(this.#rest);
    this.#rest = Buffer.alloc(0);
    return text;
  }
}

/** Returns a part of a log from its first complete character on. */
export function fromNextCharacter(part: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(part[start])) start++;
  return part.subarray(start);
}

/** Returns how many bytes at the end are the beginning of a UTF-8 character: at most 3. */
function incompleteBytes(bytes: Buffer): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const byte = bytes[bytes.length - count];
    if (isContinuation(byte)) continue;
    return byte !== undefined && lengthOf(byte) > count ? count : 0;
  }
  return 0;
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Returns the length of the UTF-8 character that begins with a byte. */
function lengthOf(byte: number): number {
  if (byte < 0xc0 || byte >= 0xf8) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : 4;
}

function toText(bytes: Buffer): string {
  return showReordering(bytes.toString("utf8").replace(/[^\P{Cc}\t\n]/gu, ""));
}
