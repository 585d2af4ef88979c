/** A line of a step's log as the runner reads it. */
export type LogLine =
  | { kind: "text"; text: string }
  | { kind: "command"; name: string; properties: Record<string, string>; data: string };

/**
 * Reads a log as the runner does: commands at the start of a line (`::name key=value::data`) or anywhere in it
 * (`##[name]data`), none between `::stop-commands::TOKEN` and `::TOKEN::`.
 */
export function readLog(log: string): LogLine[] {
  const lines: LogLine[] = [];
  let stopToken: string | undefined;
  for (const raw of log.split(/\r\n|\r|\n/)) {
    const command = parseCommand(raw);
    if (stopToken !== undefined) {
      if (command?.name === stopToken) stopToken = undefined;
      else lines.push({ kind: "text", text: raw });
    } else if (command?.name === "stop-commands") stopToken = command.data;
    else lines.push(command ? { kind: "command", ...command } : { kind: "text", text: raw });
  }
  return lines;
}

function parseCommand(line: string): { name: string; properties: Record<string, string>; data: string } | undefined {
  const match =
    /^[\s\u0085]*::([^\s:]+)(?:\s+([^:]*(?::(?!:)[^:]*)*))?::(.*)$/su.exec(line) ??
    /##\[([^\]\s]+)(?:\s+([^\]]*))?\](.*)$/su.exec(line);
  if (!match) return undefined;
  const [, name = "", list = "", data = ""] = match;
  const pairs = list
    .split(/[,;]/)
    .map((pair) => pair.split("="))
    .filter(([key]) => key?.trim());
  const properties = Object.fromEntries(pairs.map(([key = "", ...value]) => [key.trim(), unescape(value.join("="))]));
  return { name: name.toLowerCase(), properties, data: unescape(data) };
}

function unescape(text: string): string {
  return text
    .replaceAll("%0D", "\r")
    .replaceAll("%0A", "\n")
    .replaceAll("%3A", ":")
    .replaceAll("%2C", ",")
    .replaceAll("%25", "%");
}
