import { createHash } from "node:crypto";

/** Returns a hash that tells a prompt from others: 32 hexadecimal digits. */
export const hashPrompt = (prompt: string): string => createHash("sha256").update(prompt).digest("hex").slice(0, 32);
