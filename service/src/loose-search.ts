import { setImmediate } from "node:timers/promises";

/** A text that is searched for. */
export interface Needle {
  name: string;
  text: string;
}

/** Where a needle was found: from `start` up to `end`, in characters. */
export interface Place {
  name: string;
  start: number;
  end: number;
}

interface PreparedNeedle extends Needle {
  /** Its letters and digits, in lower case. */
  part: string;
  /** What is compared, too, if these are so few that ordinary text has them by accident. */
  whole: string | undefined;
}

const minLooseLength = 16;

/** The code of each letter and digit of ASCII, in lower case; 0 for all other characters. */
const compared = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code).toLowerCase();
  return /[a-z\d]/.test(character) ? character.charCodeAt(0) : 0;
});

/** Returns a text with all that may stand for white space as such, without escapes of single characters, and with base64url as base64. */
const evened = (text: string): string =>
  text
    .replaceAll("\\", "")
    .replace(/(?:[^!-~]|["'`>|])+/g, " ")
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .toLowerCase();

/** An escape of URLs, HTML, JSON or a shell. */
const escaped =
  /%([\da-f]{2})|\\(?:u([\da-f]{4})|x([\da-f]{2})|[nrt])|&(?:#x0{0,8}([\da-f]{1,6})|#0{0,8}(\d{1,7})|(amp)|(lt)|gt|quot|apos|nbsp);/iy;
const escapes = new RegExp(escaped, "gi");
const [percent, ampersand, backslash] = [37, 38, 92];
/** In characters, of an escape. One with more zeros would be longer still. */
const longestEscape = 12;

/** Returns the code that an escape stands for; a space's, if it may stand for one. */
function codeOf(_all: string, ...[url, json, hex, html, decimal, and, less]: (string | undefined)[]): number {
  if (and || less) return and ? ampersand : 60;
  return decimal ? Number(decimal) : Number.parseInt(url ?? json ?? hex ?? html ?? "20", 16);
}

/** In characters. Between two parts, the service does something else. */
const partLength = 1024 * 1024;
/** How many characters at the end of each needle are looked up. */
const endLength = 4;

const bucketOf = (end: number): number => (end ^ (end >>> 13)) & 0xffff;

/** The last letters and digits that were read. */
interface Window {
  codes: Uint8Array;
  places: Uint32Array;
  count: number;
  /** The last ones, as a number. */
  end: number;
}

/**
 * Finds texts by their letters and digits: long ones whatever stands between these, such as line breaks, indentation, quote marks, list marks
 * or escapes, there or in the needle; short ones only with other white space. Takes time linear in the text, however many needles there are.
 */
export class LooseSearch {
  /** The needles by their last characters. */
  readonly #byEnd = new Map<number, PreparedNeedle[]>();
  readonly #buckets = new Uint8Array(0x10000);
  /** The window's: a power of two. */
  readonly #size: number;

  /** @param needles - those with less than four letters and digits are not found */
  constructor(needles: Iterable<Needle>) {
    let longest = 1;
    for (const { name, text } of needles) {
      const part = text.replace(/[^a-z\d]+/gi, "").toLowerCase();
      if (part.length < endLength) continue;
      longest = Math.max(longest, part.length);
      const end = Buffer.from(part.slice(-endLength)).readInt32BE();
      this.#buckets[bucketOf(end)] = 1;
      const whole = part.length < minLooseLength ? evened(text) : undefined;
      this.#byEnd.set(end, [...(this.#byEnd.get(end) ?? []), { name, text, part, whole }]);
    }
    this.#size = 2 ** Math.ceil(Math.log2(longest));
  }

  /** Whether there is nothing to find. */
  get isEmpty(): boolean {
    return this.#byEnd.size === 0;
  }

  /** Returns where a text, of which each character is a byte, has needles, as they are and with escapes; not all, if `isFirst`. */
  async findAll(text: string, isFirst = false): Promise<Place[]> {
    if (this.isEmpty) return [];
    const plain = await this.#scan(text, false, isFirst);
    if ((isFirst && plain.length > 0) || !/[%&\\]/.test(text)) return plain;
    return [...plain, ...(await this.#scan(text, true, isFirst))];
  }

  /**
   * Returns where the end of a text may be the beginning of a needle that continues after it; the text's length if it is none.
   *
   * @param minLength - so many letters and digits tell that
   */
  beginningAtEnd(text: string, minLength = endLength): number {
    let end = "";
    const places: number[] = [];
    for (let place = text.length - 1; place >= 0 && end.length < this.#size; place--) {
      const code = compared[text.charCodeAt(place)] ?? 0;
      if (code === 0) continue;
      end = String.fromCharCode(code) + end;
      places.unshift(place);
    }
    const lengths = [...this.#byEnd.values()].flat().map(({ part }) => {
      let length = Math.min(part.length - 1, end.length);
      while (length >= minLength && !end.endsWith(part.slice(0, length))) length--;
      return length < minLength ? 0 : length;
    });
    const longest = Math.max(0, ...lengths);
    return longest === 0 ? text.length : (places[end.length - longest] ?? 0);
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
  #scanPart(text: string, from: number, readsEscapes: boolean, window: Window, found: Place[]): number {
    const { codes, places } = window;
    const mask = this.#size - 1;
    let { count, end } = window;
    let index = from;
    for (const until = Math.min(from + partLength, text.length); index < until; ) {
      const place = index++;
      let code = text.charCodeAt(place);
      const isEscape =
        code === percent || code === ampersand || (code === backslash && text.charCodeAt(index) !== code);
      if (readsEscapes && isEscape) {
        escaped.lastIndex = place;
        const [all, ...numbers] = escaped.exec(text) ?? [];
        if (all !== undefined) {
          index = escaped.lastIndex;
          code = codeOf(all, ...numbers);
        }
      }
      const one = compared[code] ?? 0;
      if (one === 0) continue;
      codes[count & mask] = one;
      places[count & mask] = place;
      count++;
      end = (end << 8) | one;
      if (this.#buckets[bucketOf(end)] === 0) continue;
      for (const needle of this.#byEnd.get(end) ?? []) {
        const { name, part } = needle;
        if (part.length > count) continue;
        let left = part.length - 1;
        while (left >= 0 && part.charCodeAt(left) === codes[(count - part.length + left) & mask]) left--;
        const start = places[(count - part.length) & mask] ?? 0;
        if (left < 0 && isWhole(needle, text, start, index, readsEscapes)) found.push({ name, start, end: index });
      }
    }
    window.count = count;
    window.end = end;
    return index;
  }
}

/** Returns whether a needle whose letters and digits were found is there with what else it has, if that matters. */
function isWhole({ text, whole }: PreparedNeedle, all: string, start: number, end: number, readsEscapes: boolean) {
  if (whole === undefined) return true;
  const margin = text.length * longestEscape;
  const around = all.slice(Math.max(0, start - margin), end + margin);
  const read = (...found: string[]): string => String.fromCharCode(codeOf(...(found as [string, ...string[]])));
  return evened(readsEscapes ? around.replace(escapes, read) : around).includes(whole);
}
