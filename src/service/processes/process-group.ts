/** Signals a process and all that it has started in its group; does nothing where they are gone or were never started. */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    // A negative number stands for the group.
    process.kill(-leader, signal);
  } catch {
    // It has ended already.
  }
}
