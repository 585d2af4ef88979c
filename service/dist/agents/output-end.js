export const maxEndLength = 1024 * 1024;
export const isEndOfOutput = (stdout) => stdout.length >= maxEndLength;
