import { setImmediate } from "node:timers/promises";
import { minSecretLength, textsOfSecret } from "../service-secrets.ts";
import { comparedPart, LooseSearch, type Place } from "./loose-search.ts";

/** A secret of the service that no change may have. */
export interface Secret {
  /** For people, such as the variable that has it. */
  name: string;
  value: string;
}

/** With fewer letters and digits, ordinary text has them by accident if anything may stand between them. */
const minLooseLength = 16;
/** How many characters at the end of each secret are searched for first. */
const endLength = 4;
/** In characters. Between two parts, the service does something else. */
const partLength = 256 * 1024;
/** One character of a secret in its longest form. An escape with more zeros would be longer still. */
const longestForm = 12;
/** What may stand for white space of a secret: other white space, its escapes, and quote marks. */
const gap = "(?:[\\s\"'`>|]|\\\\{1,4}[nrt]|%(?:20|0[9ad])){1,64}";
const longestGap = 64 * 5;

/** Where a secret was found. */
export interface FoundSecret {
  name: string;
  /** From 1. */
  line: number;
}

/**
 * Finds secrets in text, as they are and in the encodings that the action's redaction knows; see `src/runner-kit/redact.ts`. Long ones are
 * found however they are quoted, indented, escaped or split over lines.
 */
export class SecretPatterns {
  readonly #exact: readonly { name: string; pattern: RegExp }[];
  readonly #ends: RegExp;
  readonly #overlap: number;
  readonly #loose: LooseSearch;
  /** Whether there is nothing to find. */
  readonly isEmpty: boolean;

  constructor(secrets: Iterable<Secret>) {
    const texts = [...secrets].flatMap(({ name, value }) => textsOfSecret(value).map((text) => ({ name, text })));
    const isLong = ({ text }: { text: string }): boolean => comparedPart(text).length >= minLooseLength;
    const short = texts.filter((one) => !isLong(one) && one.text.length >= minSecretLength);
    this.#loose = new LooseSearch(
      texts.filter(isLong).flatMap(({ name, text }) => formsOf(text).map((form) => ({ name, text: form }))),
    );
    this.#exact = short.map(({ name, text }) => ({ name, pattern: new RegExp(anyEncodingOf(text), "gi") }));
    const ends = new Set(short.map(({ text }) => anyEncodingOf(text.slice(-endLength))));
    this.#ends = new RegExp([...ends].join("|") || "(?!)", "i");
    this.#overlap = Math.max(0, ...short.map(({ text }) => text.length * longestForm + longestGap));
    this.isEmpty = short.length === 0 && !texts.some(isLong);
  }

  /** Returns the first secret in a text, of which each character is a byte. */
  async find(text: string): Promise<FoundSecret | undefined> {
    const [place] = await this.findAll(text, true);
    return place && { name: place.name, line: text.slice(0, place.start).split("\n").length };
  }

  /** Returns where a text, of which each character is a byte, has secrets; one place, if `isFirst`. */
  async findAll(text: string, isFirst = false): Promise<Place[]> {
    const found = await this.#loose.find(text, isFirst);
    for (let start = 0; start < text.length && !(isFirst && found.length > 0); start += partLength) {
      if (start > 0) await setImmediate();
      const part = text.slice(start, start + partLength + this.#overlap);
      // Almost no text has a secret, and this takes less time.
      if (!this.#ends.test(part)) continue;
      for (const { name, pattern } of this.#exact)
        for (const { index, 0: all } of part.matchAll(pattern))
          found.push({ name, start: start + index, end: start + index + all.length });
    }
    return found;
  }

  /** Returns a text without the secrets in it. */
  async remove(text: string): Promise<string> {
    return (await this.#replace(Buffer.from(text), () => "***"))?.toString() ?? text;
  }

  /** Returns a text with as many asterisks in place of the secrets in it, so that all else stays where it is; `undefined` if it has none. */
  mask(text: Buffer): Promise<Buffer | undefined> {
    // The beginnings of lines tell whose they are.
    return this.#replace(text, (secret) => secret.replace(/\n\| |[^\n]/g, (one) => (one.length > 1 ? one : "*")));
  }

  async #replace(bytes: Buffer, replacement: (secret: string) => string): Promise<Buffer | undefined> {
    const text = bytes.toString("latin1");
    const places = (await this.findAll(text)).sort((one, other) => one.start - other.start);
    if (places.length === 0) return undefined;
    let replaced = "";
    let end = 0;
    for (let index = 0; index < places.length; ) {
      const { start = 0 } = places[index] ?? {};
      let secretEnd = start;
      // Those that overlap are one.
      for (; index < places.length && (places[index]?.start ?? 0) <= secretEnd; index++)
        secretEnd = Math.max(secretEnd, places[index]?.end ?? 0);
      replaced += text.slice(end, start) + replacement(text.slice(start, secretEnd));
      end = secretEnd;
    }
    return Buffer.from(replaced + text.slice(end), "latin1");
  }
}

/** Returns what stands for a text in each of the encodings, for a search by letters and digits. That search reads escapes itself. */
function formsOf(text: string): string[] {
  return [text, Buffer.from(text).toString("hex"), ...[0, 1, 2].map((bytesBefore) => innerBase64(text, bytesBefore))];
}

/** Returns a pattern for a text in each of the encodings. */
function anyEncodingOf(text: string): string {
  return [
    text
      .split(/(\s+)/)
      .map((part) => (/^\s/.test(part) ? gap : [...part].map(escapedCharacter).join("")))
      .join(""),
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
  return innerBase64(secret, bytesBefore).replace(/[+/]/g, (character) => (character === "+" ? "[+-]" : "[/_]"));
}

/** Returns the part of the base64 that depends on the secret alone, in a text that has it `bytesBefore` bytes after a multiple of three. */
function innerBase64(secret: string, bytesBefore: number): string {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)]);
  const first = Math.ceil((bytesBefore * 8) / 6);
  const last = Math.floor((bytes.length * 8) / 6);
  return bytes.toString("base64").slice(first, last);
}

const hex = (value: number, length: number): string => value.toString(16).padStart(length, "0");
