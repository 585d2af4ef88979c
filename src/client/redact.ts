/** Shorter keys are left alone: they would be found by accident in ids and words. Real keys are far longer. */
const leastLength = 8;

/**
 * A function that takes a secret out of a text, also in the encodings in which a service could hand it back: nothing
 * that the service says may carry the key into a log, a summary or an output.
 */
export function createRedactor(secret: string): (text: string) => string {
  if (secret.length < leastLength) return (text) => text;
  const base64 = Buffer.from(secret).toString("base64").replace(/=+$/, "");
  const forms = [...new Set([secret, encodeURIComponent(secret), base64])];
  return (text) => forms.reduce((clean, form) => clean.replaceAll(form, "***"), text);
}
