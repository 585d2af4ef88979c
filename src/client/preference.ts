/**
 * Returns the value of `Prefer` that asks the service to hold its response until the job ends, but not longer (RFC 7240,
 * section 4.3).
 *
 * @param seconds - a whole number above 0
 */
export function preferWait(seconds: number): string {
  return `wait=${seconds}`;
}

/** Returns whether `Preference-Applied` names `wait`, with or without a value (RFC 7240, section 3). */
export function isWaitApplied(preferenceApplied = ""): boolean {
  return preferenceApplied.split(",").some((preference) => /^\s*wait\s*(?:[=;]|$)/i.test(preference));
}
