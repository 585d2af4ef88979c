/** Whether `npm run test:thorough` runs the tests: then with every row of the long series that `npm test` only samples. */
export const isThorough = process.env.MODE === "thorough";

/** Returns all rows of a series of tests, or the first ones, which stand for the others in `npm test`. */
export function rows<Row>(all: readonly Row[], sampled: number): readonly Row[] {
  return isThorough ? all : all.slice(0, sampled);
}
