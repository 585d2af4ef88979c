import { setImmediate } from "node:timers/promises";

/** A secret of the service that no change may have. */
export interface Secret {
  /** For people, such as the variable that has it. */
  name: string;
  value: string;
}

/** Shorter ones would be found in ordinary text. Real keys are far longer. */
const minLength = 8;
/** How many characters at the end of each secret are searched for first. */
const endLength = 4;
/** In characters. Between two parts, the service does something else. */
const partLength = 256 * 1024;
/** One character of a secret in its longest form. An escape with more zeros would be longer still. */
const longestForm = 12;

/** Where a secret was found. */
export interface FoundSecret {
  name: string;
  /** From 1. */
  line: number;
}

/** Finds secrets in text, as they are and in the encodings that the action's redaction knows; see `src/runner-kit/redact.ts`. */
export class SecretPatterns {
  readonly #secrets: readonly { name: string; pattern: RegExp }[];
  readonly #ends: RegExp;
  readonly #overlap: number;

  constructor(secrets: Iterable<Secret>) {
    const long = [...secrets].filter(({ value }) => value.length >= minLength);
    this.#secrets = long.map(({ name, value }) => ({ name, pattern: new RegExp(anyEncodingOf(value), "i") }));
    const ends = new Set(long.map(({ value }) => anyEncodingOf(value.slice(-endLength))));
    this.#ends = new RegExp([...ends].join("|") || "(?!)", "i");
    this.#overlap = Math.max(0, ...long.map(({ value }) => value.length)) * longestForm;
  }

  /** Whether there is nothing to find. */
  get isEmpty(): boolean {
    return this.#secrets.length === 0;
  }

  /** Returns the first secret in a text. */
  async find(text: string): Promise<FoundSecret | undefined> {
    for (let start = 0; start < text.length; start += partLength) {
      if (start > 0) await setImmediate();
      const part = text.slice(start, start + partLength + this.#overlap);
      // Almost no text has a secret, and this takes less time.
      if (!this.#ends.test(part)) continue;
      for (const { name, pattern } of this.#secrets) {
        const found = pattern.exec(part);
        if (found !== null) return { name, line: text.slice(0, start + found.index).split("\n").length };
      }
    }
    return undefined;
  }

  /** Returns a text without the secrets in it. */
  async remove(text: string): Promise<string> {
    const bytes = Buffer.from(text).toString("latin1");
    if ((await this.find(bytes)) === undefined) return text;
    const rest = this.#secrets.reduce((left, { pattern }) => left.replace(new RegExp(pattern, "gi"), "***"), bytes);
    return Buffer.from(rest, "latin1").toString();
  }
}

/** Returns a pattern for a text in each of the encodings. */
function anyEncodingOf(text: string): string {
  return [
    [...text].map(escapedCharacter).join(""),
    Buffer.from(text).toString("hex"),
    ...[0, 1, 2].map((bytesBefore) => base64Pattern(text, bytesBefore)),
  ].join("|");
}

/** Returns a pattern for a character: as it is, percent-encoded, or as an escape of HTML or JSON. */
function escapedCharacter(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const percentEncoded = [...Buffer.from(character)].map((byte) => `%${hex(byte, 2)}`).join("");
  const jsonEscaped = character
    .split("")
    .map((unit) => `\\\\u${hex(unit.charCodeAt(0), 4)}`)
    .join("");
  const html = [`&#0*${code};`, `&#x0*${code.toString(16)};`, htmlNames[character] ?? ""];
  // Files are searched as bytes.
  const bytes = Buffer.from(character).toString("latin1");
  return `(?:${[percentEncoded, jsonEscaped, `\\\\?${RegExp.escape(bytes)}`, ...html].filter(Boolean).join("|")})`;
}

const htmlNames: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Returns a pattern for the base64 or base64url of a text that has the secret `bytesBefore` bytes after a multiple of three. */
function base64Pattern(secret: string, bytesBefore: number): string {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)]);
  const first = Math.ceil((bytesBefore * 8) / 6);
  const last = Math.floor((bytes.length * 8) / 6);
  return bytes
    .toString("base64")
    .slice(first, last)
    .replace(/[+/]/g, (character) => (character === "+" ? "[+-]" : "[/_]"));
}

const hex = (value: number, length: number): string => value.toString(16).padStart(length, "0");
