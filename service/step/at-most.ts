import { type Machine, thisMachine } from "../src/machine.ts";

const patientMs = 20_000;
const hurriedMs = 1000;

/**
 * Waits for a part of the end, for at most 20 seconds, so that the next part gets its turn: a connection that hangs does so for minutes. In a
 * hurry, for at most a second.
 *
 * @param part - never rejects
 * @param hurry - aborts when little time is left. Default: never
 */
export async function atMost(
  part: Promise<void> | undefined,
  hurry?: AbortSignal,
  machine: Pick<Machine, "sleep"> = thisMachine,
): Promise<void> {
  const over = new AbortController();
  const limit = async (): Promise<void> => {
    await machine.sleep(patientMs, AbortSignal.any([over.signal, ...(hurry === undefined ? [] : [hurry])]));
    if (hurry?.aborted) await machine.sleep(hurriedMs, over.signal);
  };
  await Promise.race([part, limit()]);
  over.abort();
}
