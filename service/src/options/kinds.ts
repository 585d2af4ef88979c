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
  /** The value in JSON. */
  json: z.ZodMiniType<T>;
}

/** A timer takes at most 35,791 minutes. */
const maxAmount = 10_000;
const maxLimit = 1_000_000_000;

export const flag: Kind<boolean> = { given: "never", parse: () => true, json: z.boolean("true or false") };

/** @param expected - says what the text is, for messages */
export function text(expected: string): Kind<string> {
  const json = z.string(expected).check(z.minLength(1, expected));
  return { given: "once", parse: (_, [given = ""]) => given, json };
}

/** @param expected - says what each text is, for messages */
export function texts(expected: string): Kind<string[]> {
  const json = z.array(text(expected).json, `a list, each ${expected}`);
  return { given: "repeatedly", parse: (_, given) => [...given], json };
}

/** The name of an environment variable. */
export function variableName() {
  const expected = "the name of an environment variable";
  return z.string(expected).check(z.regex(/^[A-Za-z_]\w*$/, expected));
}

export const variableNames: Kind<string[]> = {
  given: "repeatedly",
  parse: (_, given) => [...given],
  json: z.array(variableName(), "a list of names of environment variables"),
};

export function choice<const Choices extends readonly string[]>(choices: Choices): Kind<Choices[number]> {
  return {
    given: "once",
    parse: (option, [given]) => {
      const chosen = choices.find((one) => one === given);
      if (chosen === undefined) throw new Error(`${option} must be ${choices.join(" or ")}.`);
      return chosen;
    },
    json: z.enum(choices, choices.map((one) => JSON.stringify(one)).join(" or ")),
  };
}

export function integer(min: number, max: number): Kind<number> {
  const expected = `an integer from ${min} to ${max}`;
  return {
    given: "once",
    parse: (option, [given = ""]) => {
      const value = Number(given);
      if (!/^\d+$/.test(given) || value < min || value > max) throw new Error(`${option} must be ${expected}.`);
      return value;
    },
    json: z.int(expected).check(z.gte(min, expected), z.lte(max, expected)),
  };
}

/** A limit that the service can enforce only on Linux. */
export const linuxLimit: Kind<number> = {
  ...integer(1, maxLimit),
  parse: (option, given) => {
    if (process.platform !== "linux") throw new Error(`${option} requires Linux.`);
    return integer(1, maxLimit).parse(option, given);
  },
};

const expectedAmount = `a number greater than 0 and at most ${maxAmount}`;

/** Minutes, days or megabytes. */
export const amount: Kind<number> = {
  given: "once",
  parse: (option, [given = ""]) => {
    const value = Number(given);
    if (!/^\d+(\.\d+)?$/.test(given) || value <= 0 || value > maxAmount)
      throw new Error(`${option} must be ${expectedAmount}.`);
    return value;
  },
  json: z.number(expectedAmount).check(z.gt(0, expectedAmount), z.lte(maxAmount, expectedAmount)),
};

/** As `amount`, or the word `never`, which is `Infinity`. */
export const amountOrNever: Kind<number> = {
  given: "once",
  parse: (option, given) => {
    if (given[0] === "never") return Number.POSITIVE_INFINITY;
    if (!/^[\d.]+$/.test(given[0] ?? "")) throw new Error(`${option} must be never, or ${expectedAmount}.`);
    return amount.parse(option, given);
  },
  json: amount.json,
};
