/** In characters. Agents say in the last lines of their stdout how their turn went. */
export const maxEndLength = 1024 * 1024;
/** Returns whether what is kept of an agent's stdout may be only its end. */
export const isEndOfOutput = (stdout) => stdout.length >= maxEndLength;
