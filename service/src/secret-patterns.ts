import { LooseSearch } from "./loose-search.ts";
import { textsOfSecret } from "./service-secrets.ts";

/** A secret of the service that no change may have. */
export interface Secret {
  /** For people, such as the variable that has it. */
  name: string;
  value: string;
}

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
export class SecretPatterns extends LooseSearch {
  constructor(secrets: Iterable<Secret>) {
    const texts = [...secrets].flatMap(({ name, value }) => textsOfSecret(value).map((text) => ({ name, text })));
    super(texts.flatMap(({ name, text }) => formsOf(text).map((form) => ({ name, text: form }))));
  }

  /** Returns the first secret in a text, of which each character is a byte. */
  async find(text: string): Promise<FoundSecret | undefined> {
    const [place] = await this.findAll(text, true);
    return place && { name: place.name, line: text.slice(0, place.start).split("\n").length };
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

/** Returns the text as it is in each of the encodings, besides escapes, which the search reads. */
function formsOf(text: string): string[] {
  return [text, Buffer.from(text).toString("hex"), ...[0, 1, 2].map((bytesBefore) => innerBase64(text, bytesBefore))];
}

/** Returns the part of the base64 that depends on the secret alone, in a text that has it `bytesBefore` bytes after a multiple of three. */
function innerBase64(secret: string, bytesBefore: number): string {
  const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)]);
  const first = Math.ceil((bytesBefore * 8) / 6);
  const last = Math.floor((bytes.length * 8) / 6);
  return bytes.toString("base64").slice(first, last);
}
