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
export function parseEvents(stdout) {
    return stdout
        .split("\n")
        .map(parseEvent)
        .filter((event) => event !== undefined);
}
export function stringIn(event, ...path) {
    const value = valueIn(event, path);
    return typeof value === "string" ? value : undefined;
}
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
