import * as z from "zod/mini";

/** A kind of value: its form on the command line and in the `--config` file. */
export interface Kind<T> {
  /** How often the command line may give a value. `never`: the option has none. */
  given: "never" | "once" | "repeatedly";
  /**
   * Returns the value of an option on the command line.
   *
   * @param option - its name with the dashes, for messages
   * @throws if a text is not valid
   */
  parse(option: string, texts: readonly string[]): T;
  json: z.ZodMiniType<T>;
}

/**
 * Returns a kind whose values are the same on the command line and in JSON.
 *
 * @param expected - says what the value is, for messages
 * @param read - returns the JSON of a text on the command line; `undefined` if it has none
 */
function once<T>(json: z.ZodMiniType<T>, expected: string, read: (text: string) => unknown): Kind<T> {
  const parse = (option: string, [given = ""]: readonly string[]): T => {
    const parsed = z.safeParse(json, read(given));
    if (!parsed.success) throw new Error(`${option} must be ${expected}.`);
    return parsed.data;
  };
  return { given: "once", parse, json };
}

export const flag: Kind<boolean> = { given: "never", parse: () => true, json: z.boolean("true or false") };

/** @param expected - says what the text is, for messages */
export function text(expected: string): Kind<string> {
  const json = z.string(expected).check(z.trim(), z.minLength(1, expected));
  return { given: "once", parse: (_, [given = ""]) => given, json };
}

/** @param expected - says what each text is, for messages */
export function texts(expected: string): Kind<string[]> {
  return textsOf(text(expected).json, `a list, each ${expected}`);
}

/** The name of an environment variable. */
export function variableName() {
  const expected = "the name of an environment variable";
  return z.string(expected).check(z.trim(), z.regex(/^[A-Za-z_]\w*$/, expected));
}

export const variableNames = textsOf(variableName(), "a list of names of environment variables");

function textsOf(json: z.ZodMiniType<string>, expected: string): Kind<string[]> {
  return { given: "repeatedly", parse: (_, given) => [...given], json: z.array(json, expected) };
}

export function choice<const Choices extends readonly string[]>(choices: Choices): Kind<Choices[number]> {
  const json = z.enum(choices, choices.map((one) => JSON.stringify(one)).join(" or "));
  return once<Choices[number]>(json, choices.join(" or "), (given) => given);
}

export function integer(min: number, max: number): Kind<number> {
  const expected = `an integer from ${min} to ${max}`;
  const json = z.int(expected).check(z.gte(min, expected), z.lte(max, expected));
  return once(json, expected, (given) => (/^\d+$/.test(given) ? Number(given) : undefined));
}

/** A limit that the service can enforce only on Linux. */
export const linuxLimit: Kind<number> = {
  ...integer(1, 1_000_000_000),
  parse: (option, given) => {
    if (process.platform !== "linux") throw new Error(`${option} requires Linux.`);
    return integer(1, 1_000_000_000).parse(option, given);
  },
};

/** A timer takes at most 35,791 minutes. */
const maxAmount = 10_000;
const expectedAmount = `a number greater than 0 and at most ${maxAmount}`;

const amountJson = z.number(expectedAmount).check(z.gt(0, expectedAmount), z.lte(maxAmount, expectedAmount));
const readAmount = (given: string) => (/^\d+(\.\d+)?$/.test(given) ? Number(given) : undefined);

/** Minutes, days or megabytes. */
export const amount = once<number>(amountJson, expectedAmount, readAmount);

const numberOrNever = once<number>(amountJson, `never, or ${expectedAmount}`, readAmount);

/** As `amount`, or the word `never`, which is `Infinity`. */
export const amountOrNever: Kind<number> = {
  ...numberOrNever,
  parse: (option, given) => (given[0] === "never" ? Number.POSITIVE_INFINITY : numberOrNever.parse(option, given)),
};
