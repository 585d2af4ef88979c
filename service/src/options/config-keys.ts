import { type OptionName, optionNames, options } from "./table.ts";

/** The options that a project has in a configuration, too. */
export type KeyedName = {
  [Name in OptionName]: (typeof options)[Name] extends { key: string } ? Name : never;
}[OptionName];

const isKeyed = (name: OptionName): name is KeyedName => "key" in options[name];

/** Something for each key of a project in a configuration. */
export type ByKey<T extends Record<KeyedName, unknown>> = {
  [Name in KeyedName as (typeof options)[Name]["key"]]: T[Name];
};

/** Returns an object with the keys of a project in a configuration. */
export function byKey<T extends Record<KeyedName, unknown>>(make: <Name extends KeyedName>(name: Name) => T[Name]) {
  const entries = optionNames.filter(isKeyed).map((name) => [options[name].key, make(name)]);
  // `Object.fromEntries` does not know which key has which type.
  return Object.fromEntries(entries) as ByKey<T>;
}

/** Returns a message with the keys of a configuration in place of options: `agentNetwork` for `--agent-network`. */
export function withKeys(message: string): string {
  return optionNames
    .filter(isKeyed)
    .reduce((text, name) => text.replaceAll(new RegExp(`--${name}(?![\\w-])`, "g"), options[name].key), message);
}
