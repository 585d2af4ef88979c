/** Shorter secrets are not redacted: they would match ids and words by accident. Real keys are far longer. */
const minSecretLength = 8;

/**
 * Returns a function that replaces a secret with `***`, also in the encodings in which a service could echo it:
 * nothing that the service says may carry the key into a log, a summary or an output.
 */
export function createRedactor(secret: string): (text: string) => string {
  if (secret.length < minSecretLength) return (text) => text;
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  const encodings = [...new Set([secret, encodeURIComponent(secret), base64])];
  return (text) => encodings.reduce((redacted, encoding) => redacted.replaceAll(encoding, "***"), text);
}
