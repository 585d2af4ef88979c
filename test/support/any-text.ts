import fc from "fast-check";

/**
 * Returns texts of any characters. `fc.string` with the unit `binary` makes such texts, too, but spends more than a second on a
 * table of all characters first.
 *
 * @param maxLength - in characters. Default: the one of fast-check
 */
export function anyText(maxLength?: number): fc.Arbitrary<string> {
  const constraints = maxLength === undefined ? {} : { maxLength };
  const character = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }));
  const text = fc.array(character, constraints).map((characters) => String.fromCodePoint(...characters));
  return fc.oneof({ weight: 4, arbitrary: text }, fc.string(constraints));
}
