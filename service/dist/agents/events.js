/** Parses a line of an agent's stdout; `undefined` if it is no event. */
export function parseEvent(line) {
    if (!line.startsWith("{"))
        return undefined;
    try {
        return JSON.parse(line);
    }
    catch {
        return undefined;
    }
}
/** Parses the lines of JSON in an agent's output. The first line may be cut off, and others may not be JSON. */
export function parseEvents(stdout) {
    return stdout
        .split("\n")
        .map(parseEvent)
        .filter((event) => event !== undefined);
}
/** Returns the string at a path in an event; `undefined` if there is none. */
export function stringIn(event, ...path) {
    const value = valueIn(event, path);
    return typeof value === "string" ? value : undefined;
}
/** Returns the number at a path in an event; `undefined` if there is none. */
export function numberIn(event, ...path) {
    const value = valueIn(event, path);
    return typeof value === "number" ? value : undefined;
}
function valueIn(event, path) {
    let value = event;
    for (const name of path) {
        if (typeof value !== "object" || value === null)
            return undefined;
        value = value[name];
    }
    return value;
}
