import { type Machine, thisMachine } from "../machine.ts";

/**
 * Returns a function that returns what `read` does, without reading each time: who asks while it reads gets the same, and so
 * does who asks a while later.
 *
 * @param read - never rejects
 * @param keepMs - returns for how long it is used again, given how long the reading took, both in milliseconds
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
