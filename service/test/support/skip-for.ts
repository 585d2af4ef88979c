/**
 * Returns why tests are skipped on this machine, if they are.
 *
 * @param obstacle - what the machine lacks; `undefined` if nothing
 * @throws if there is one, and `TESTS_MUST_RUN` is set: where merges and releases are decided, a skipped test proves nothing
 */
export function skipFor(obstacle: string | undefined): string | undefined {
  if (obstacle !== undefined && process.env.TESTS_MUST_RUN) throw new Error(`Tests cannot run here: ${obstacle}`);
  return obstacle;
}
