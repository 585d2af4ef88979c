import { parseArgs } from "node:util";
import { kindOf, type OptionName, type OptionValues } from "./table.ts";

/** The options that a command line has. */
export interface Arguments<Names extends OptionName> {
  /** What is not an option. */
  positionals: readonly string[];
  has(name: Names): boolean;
  /**
   * Returns the value of an option; `undefined` if the command line does not have it.
   *
   * @throws if it is not valid
   */
  value<Name extends Names>(name: Name): OptionValues[Name] | undefined;
}

/**
 * Reads a command line.
 *
 * @param names - the options that it may have
 * @throws if it has others, or two values for one that has a single value
 */
export function parseArguments<Names extends OptionName>(
  args: readonly string[],
  names: readonly Names[],
  allowPositionals = false,
): Arguments<Names> {
  const config = Object.fromEntries(
    names.map((name) => {
      const { given } = kindOf(name);
      return [name, { type: given === "never" ? "boolean" : "string", multiple: given === "repeatedly" } as const];
    }),
  );
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: config,
    allowPositionals,
    tokens: true,
  });
  const isSingle = (name: string): boolean => config[name]?.type === "string" && !config[name].multiple;
  const single = tokens.flatMap((token) => (token.kind === "option" && isSingle(token.name) ? [token.name] : []));
  const twice = single.find((name, index) => single.indexOf(name) !== index);
  // The last value would win without a word.
  if (twice !== undefined) throw new Error(`--${twice} is given twice.`);
  return {
    positionals,
    has: (name) => values[name] !== undefined,
    value: <Name extends Names>(name: Name) => {
      const given = values[name];
      return given === undefined
        ? undefined
        : kindOf(name).parse(
            `--${name}`,
            [given].flat().map((one) => String(one).trim()),
          );
    },
  };
}
