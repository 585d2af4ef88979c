import { type Machine, thisMachine } from "../machine.ts";

/**
 * Returns a function with the result of `read`, without reading each time: calls during a read share its result, and so do
 * calls until it expires.
 *
 * @param read - never rejects
 * @param keepMs - returns how long the result is valid, given how long the read took, both in milliseconds
 */
export function cached<T>(
  read: () => Promise<T>,
  keepMs: (tookMs: number) => number,
  machine: Pick<Machine, "now"> = thisMachine,
): () => Promise<T> {
  let last: { value: Promise<T>; until: number } | undefined;
  return () => {
    const begin = machine.now();
    if (last !== undefined && begin < last.until) return last.value;
    const current = { value: read(), until: Number.POSITIVE_INFINITY };
    last = current;
    void current.value.then(() => {
      current.until = machine.now() + keepMs(machine.now() - begin);
    });
    return current.value;
  };
}
