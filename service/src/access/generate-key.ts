import { randomBytes } from "node:crypto";

/** Returns a new API key, with 192 random bits. */
export function generateKey(): string {
  return `mint_${randomBytes(24).toString("hex")}`;
}
