/** The options of an agent that `--agent-args` lets through, by how many values they have. Names have a space between them. */
export interface AgentOptions {
  none: string;
  one: string;
  /** One or more, up to the next option. */
  many: string;
  /** The option of the service that takes the place of another one. */
  instead?: Readonly<Record<string, string>>;
  /** Returns whether a value would change what the service sets itself. Default: none would. */
  isOwn?: (name: string, value: string) => boolean;
}

/**
 * Splits arguments as a shell splits words. Nothing is expanded.
 *
 * @throws if a quotation mark is not closed
 */
export function splitWords(text: string): string[] {
  const word = /(?:[^\s'"\\]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/g;
  if (text.replaceAll(word, "").trim() !== "") throw new Error("--agent-args has a quotation mark that is not closed.");
  const part = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g;
  return (text.match(word) ?? []).map((one) =>
    one.replaceAll(
      part,
      (_, single?: string, double?: string, escaped?: string) =>
        single ?? double?.replaceAll(/\\(["\\$`])/g, "$1") ?? escaped ?? "",
    ),
  );
}

/**
 * Reads arguments for an agent.
 *
 * @param options - undefined: the agent lets none through
 * @returns the words
 * @throws unless each word is an option that is let through, or its value
 */
export function readAgentArguments(agent: string, text: string, options: AgentOptions | undefined): string[] {
  if (options === undefined)
    throw new Error(`--agent-args is for claude and codex, not for ${agent}: no list says what is harmless there.`);
  const { none, one, many, instead = {}, isOwn = () => false } = options;
  const counts = Object.entries({ none, one, many });
  const words = splitWords(text);
  for (let index = 0; index < words.length; ) {
    const [, name = "", attached] = /^(--?[\w-]+)(?:=([\s\S]*))?$/.exec(words[index] ?? "") ?? [];
    const count = counts.find(([, names]) => name !== "" && names.split(" ").includes(name))?.[0];
    if (count === undefined) {
      const known = counts.flatMap(([, names]) => names.split(" ").filter(Boolean)).join(", ");
      const other = instead[name];
      if (other !== undefined)
        throw new Error(`--agent-args must not have ${name}: write ${other} as an option of its own.`);
      throw new Error(`--agent-args must not have ${words[index]}: of ${agent}, only ${known} and their values.`);
    }
    const values = attached === undefined ? [] : [attached];
    index++;
    const max = attached !== undefined || count === "none" ? 0 : count === "one" ? 1 : words.length;
    while (values.length < max && index < words.length && !words[index]?.startsWith("-"))
      values.push(words[index++] ?? "");
    if ((values.length === 0) !== (count === "none"))
      throw new Error(`--agent-args must have ${name} ${count === "none" ? "without" : "with"} a value.`);
    const own = values.find((value) => isOwn(name, value));
    if (own !== undefined) throw new Error(`--agent-args must not have ${name} ${own}, which the service sets.`);
  }
  return words;
}
