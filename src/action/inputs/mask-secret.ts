import type { Toolkit } from "../runner/toolkit.ts";

/**
 * Masks a secret; call it before anything is printed. The runner masks every line of a multi-line secret, so the lines are
 * masked one by one, and lines of less than 8 characters are left out: masking them would garble the log.
 */
export function maskSecret(value: string, toolkit: Pick<Toolkit, "mask">): void {
  const secret = value.trim();
  for (const line of secret.split(/[\r\n]/)) {
    if (line !== "" && (line === secret || line.length >= 8)) toolkit.mask(line);
  }
}
