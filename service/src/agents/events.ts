/** An event that an agent prints as a line of JSON. */
export type AgentEvent = Readonly<Record<string, unknown>>;

/** Parses a line of an agent's stdout; `undefined` if it is no event. */
export function parseEvent(line: string): AgentEvent | undefined {
  if (!line.startsWith("{")) return undefined;
  try {
    return JSON.parse(line) as AgentEvent;
  } catch {
    return undefined;
  }
}

/** Parses the lines of JSON in an agent's output. The first line may be cut off, and others may not be JSON. */
export function parseEvents(stdout: string): AgentEvent[] {
  return stdout
    .split("\n")
    .map(parseEvent)
    .filter((event) => event !== undefined);
}

/** Returns the string at a path in an event; `undefined` if there is none. */
export function stringIn(event: AgentEvent | undefined, ...path: readonly string[]): string | undefined {
  const value = valueIn(event, path);
  return typeof value === "string" ? value : undefined;
}

/** Returns the number at a path in an event; `undefined` if there is none. */
export function numberIn(event: AgentEvent | undefined, ...path: readonly string[]): number | undefined {
  const value = valueIn(event, path);
  return typeof value === "number" ? value : undefined;
}

function valueIn(event: AgentEvent | undefined, path: readonly string[]): unknown {
  let value: unknown = event;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return undefined;
    value = (value as AgentEvent)[name];
  }
  return value;
}
