/** A line of a step's log as the runner parses it. */
export type LogLine = { kind: "text"; text: string } | ({ kind: "command" } & Command);

interface Command {
  name: string;
  properties: Record<string, string>;
  data: string;
}

const commandNames = new Set([
  "add-mask",
  "add-matcher",
  "add-path",
  "debug",
  "echo",
  "endgroup",
  "error",
  "group",
  "internal-set-repo-path",
  "notice",
  "remove-matcher",
  "save-state",
  "set-env",
  "set-output",
  "stop-commands",
  "warning",
]);

/**
 * Parses a log as the runner does: workflow commands at the start of a line (`::name key=value::data`) or anywhere in it
 * (`##[name]data`), except between `::stop-commands::TOKEN` and `::TOKEN::`.
 */
export class LogReader {
  #rest = "";
  #stopToken: string | undefined;

  /** Returns the lines that `chunk` completes. */
  read(chunk: string): LogLine[] {
    const lines = (this.#rest + chunk).split(/\r\n|\r|\n/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#readLine(line));
  }

  /** Returns the last line, if the log does not end with a line break. */
  end(): LogLine[] {
    return this.#rest === "" ? [] : this.read("\n");
  }

  #readLine(line: string): LogLine[] {
    const command = parseAtStart(line) ?? parseAnywhere(line);
    if (this.#stopToken !== undefined) {
      if (command?.name !== this.#stopToken) return [{ kind: "text", text: line }];
      this.#stopToken = undefined;
      return [];
    }
    if (!command || !commandNames.has(command.name)) return [{ kind: "text", text: line }];
    if (command.name !== "stop-commands") return [{ kind: "command", ...command }];
    this.#stopToken = command.data;
    return [];
  }
}

/** Parses a complete log. */
export function readLog(log: string): LogLine[] {
  const reader = new LogReader();
  return [...reader.read(log), ...reader.end()];
}

function parseAtStart(line: string): Command | undefined {
  const text = line.replace(/^[\s\u0085]+/, "");
  const end = text.indexOf("::", 2);
  if (!text.startsWith("::") || end < 0) return undefined;
  return command(text.slice(2, end), ",", text.slice(end + 2));
}

function parseAnywhere(line: string): Command | undefined {
  const start = line.indexOf("##[");
  const end = line.indexOf("]", start);
  if (start < 0 || end < 0) return undefined;
  return command(line.slice(start + 3, end), ";", line.slice(end + 1));
}

function command(head: string, separator: string, data: string): Command {
  const [name = "", ...rest] = head.split(" ");
  const pairs = rest.join(" ").split(separator).filter(Boolean);
  const properties = pairs.map((pair) => {
    const [key = "", ...value] = pair.split("=");
    return [key.trim(), decode(value.join("="))];
  });
  return { name: name.toLowerCase(), properties: Object.fromEntries(properties), data: decode(data) };
}

function decode(text: string): string {
  const escapes = { "%0D": "\r", "%0A": "\n", "%3A": ":", "%3B": ";", "%2C": ",", "%5D": "]", "%25": "%" };
  return Object.entries(escapes).reduce(
    (decoded, [escaped, character]) => decoded.replaceAll(escaped, character),
    text,
  );
}
