import { createHash } from "node:crypto";

/** Hashes a text for a key: 32 hexadecimal characters. */
export function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
