import { setImmediate } from "node:timers/promises";

/** A text that is searched for. */
export interface Needle {
  name: string;
  /** Compared by its letters and digits only. */
  text: string;
}

/** Where something was found: from `start` up to `end`, in characters. */
export interface Place {
  name: string;
  start: number;
  end: number;
}

/** The code of each letter and digit of ASCII, in lower case; 0 for all other characters. */
const compared = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code).toLowerCase();
  return /[a-z\d]/.test(character) ? character.charCodeAt(0) : 0;
});

/** Returns what is compared of a text: its letters and digits, in lower case. */
export const comparedPart = (text: string): string => text.replace(/[^a-z\d]+/gi, "").toLowerCase();

/** An escape of URLs, HTML, JSON or a shell. The groups have a hexadecimal number, except the third, which has a decimal one. */
const escaped =
  /%([\da-f]{2})|\\(?:u([\da-f]{4})|x([\da-f]{2})|[nrt])|&(?:#0{0,8}(\d{1,7})|#x0{0,8}([\da-f]{1,6})|amp|lt|gt|quot|apos|nbsp);/iy;
const [percent, ampersand, backslash] = [37, 38, 92];

/** In characters. Between two parts, the service does something else. */
const partLength = 1024 * 1024;
/** How many characters at the end of each needle are looked up. */
const endLength = 4;

const bucketOf = (end: number): number => (end ^ (end >>> 13)) & 0xffff;

/**
 * Finds texts by their letters and digits alone: whatever stands between these, such as line breaks, indentation, quote marks, list marks or
 * escapes, there or in the needle. Takes time linear in the text, however many needles there are.
 */
export class LooseSearch {
  /** The needles by their last characters. */
  readonly #byEnd = new Map<number, Needle[]>();
  readonly #buckets = new Uint8Array(0x10000);
  /** Of the window of characters that are compared: a power of two. */
  readonly #size: number;

  /** @param needles - each with at least four letters and digits */
  constructor(needles: Iterable<Needle>) {
    let longest = 1;
    for (const { name, text } of needles) {
      const part = comparedPart(text);
      longest = Math.max(longest, part.length);
      const end = Buffer.from(part.slice(-endLength)).readInt32BE();
      this.#buckets[bucketOf(end)] = 1;
      this.#byEnd.set(end, [...(this.#byEnd.get(end) ?? []), { name, text: part }]);
    }
    this.#size = 2 ** Math.ceil(Math.log2(longest));
  }

  /** Returns the places of needles, as they are and with escapes; only one, if `isFirst`. */
  async find(text: string, isFirst = false): Promise<Place[]> {
    if (this.#byEnd.size === 0) return [];
    const plain = await this.#scan(text, false, isFirst);
    if ((isFirst && plain.length > 0) || !/[%&\\]/.test(text)) return plain;
    return [...plain, ...(await this.#scan(text, true, isFirst))];
  }

  async #scan(text: string, readsEscapes: boolean, isFirst: boolean): Promise<Place[]> {
    const window = { codes: new Uint8Array(this.#size), places: new Uint32Array(this.#size), count: 0, end: 0 };
    const found: Place[] = [];
    for (let index = 0; index < text.length && !(isFirst && found.length > 0); ) {
      if (index > 0) await setImmediate();
      index = this.#scanPart(text, index, readsEscapes, window, found);
    }
    return found;
  }

  /** Returns where the next part begins. */
  #scanPart(
    text: string,
    from: number,
    readsEscapes: boolean,
    window: { codes: Uint8Array; places: Uint32Array; count: number; end: number },
    found: Place[],
  ): number {
    const { codes, places } = window;
    const mask = this.#size - 1;
    let { count, end } = window;
    let index = from;
    for (const until = Math.min(from + partLength, text.length); index < until; ) {
      const place = index++;
      let code = text.charCodeAt(place);
      if (readsEscapes && (code === backslash || code === percent || code === ampersand)) {
        escaped.lastIndex = place;
        const [all = "", ...numbers] = escaped.exec(text) ?? [];
        if (all !== "") {
          index += all.length - 1;
          const [, , , decimal] = numbers;
          code = decimal ? Number(decimal) : Number.parseInt(numbers.find(Boolean) ?? "0", 16);
        }
      }
      const one = compared[code] ?? 0;
      if (one === 0) continue;
      codes[count & mask] = one;
      places[count & mask] = place;
      count++;
      end = (end << 8) | one;
      if (this.#buckets[bucketOf(end)] === 0) continue;
      for (const { name, text: needle } of this.#byEnd.get(end) ?? []) {
        if (needle.length > count) continue;
        let left = needle.length - 1;
        while (left >= 0 && needle.charCodeAt(left) === codes[(count - needle.length + left) & mask]) left--;
        if (left < 0) found.push({ name, start: places[(count - needle.length) & mask] ?? 0, end: index });
      }
    }
    window.count = count;
    window.end = end;
    return index;
  }
}
