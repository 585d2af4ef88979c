/** Shorter secrets are not redacted: they would match ids and words by accident. Real keys are far longer. */
const minSecretLength = 8;

/** How many characters at the end of a secret are searched for before the whole secret is. More take longer to compile. */
const endLength = 4;

/**
 * Returns a function that replaces a secret with `***`, as it is and as a service or gateway could echo it: percent-encoded, with HTML and
 * JSON escapes, hexadecimal, or in base64 of any text with it, such as `Bearer KEY`. Takes time linear in the text.
 * Compiling the whole pattern takes a tenth of a short step's time, and almost no text contains a secret: its end comes first.
 */
export function createRedactor(secret: string): (text: string) => string {
  if (secret.length < minSecretLength) return (text) => text;
  const end = new RegExp(anyEncodingOf([...secret].slice(-endLength).join("")), "iu");
  let whole: RegExp | undefined;
  return (text) => {
    if (!end.test(text)) return text;
    whole ??= new RegExp(anyEncodingOf(secret), "giu");
    return text.replace(whole, "***");
  };
}

function anyEncodingOf(text: string): string {
  const encodings = [
    [...text].map(escapedCharacter).join(""),
    [...Buffer.from(text)].map((byte) => hex(byte)).join(""),
    ...[0, 1, 2].map((bytesBefore) => base64Pattern(text, bytesBefore)),
  ];
  return encodings.join("|");
}

/** Returns a pattern for a character: as it is, percent-encoded, or as an escape of HTML or JSON. */
function escapedCharacter(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  const percentEncoded = [...Buffer.from(character)].map((byte) => `%${hex(byte)}`).join("");
  const jsonEscaped = character
    .split("")
    .map((unit) => `\\\\u${hex(unit.charCodeAt(0), 4)}`)
    .join("");
  const html = [`&#0*${codePoint};`, `&#x0*${codePoint.toString(16)};`, htmlNames[character] ?? ""];
  const alternatives = [percentEncoded, jsonEscaped, `\\\\?${RegExp.escape(character)}`, ...html];
  return `(?:${alternatives.filter(Boolean).join("|")})`;
}

const htmlNames: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Returns a pattern for the base64 of any text with the secret `bytesBefore` bytes after a multiple of three. */
function base64Pattern(secret: string, bytesBefore: number): string {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)]);
  const first = Math.ceil((bytesBefore * 8) / 6);
  const last = Math.floor((bytes.length * 8) / 6);
  return bytes
    .toString("base64")
    .slice(first, last)
    .replace(/[+/]/g, (character) => (character === "+" ? "[+-]" : "[/_]"));
}

function hex(value: number, length = 2): string {
  return value.toString(16).padStart(length, "0");
}
