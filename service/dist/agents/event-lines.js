import { parseEvent } from "./events.js";
export const eventFormats = ["claude", "codex", "copilot", "gemini", "opencode"];
const maxToolLength = 300;
export class EventLines {
    #render;
    #piece = "";
    constructor(format) {
        this.#render = { claude, codex, copilot, gemini: (event) => this.#gemini(event), opencode }[format];
    }
    add(line, event = parseEvent(line)) {
        if (event === undefined)
            return [...this.end(), line];
        const model = modelOf(event);
        if (model !== undefined)
            return [...this.end(), `Model: ${short(model)}`];
        return this.#render(event)
            .flatMap((text) => text.split("\n"))
            .filter((text) => text.trim() !== "");
    }
    end() {
        const rest = this.#piece;
        this.#piece = "";
        return rest.trim() === "" ? [] : [rest];
    }
    #gemini(event) {
        if (event.type === "message" && event.role === "assistant") {
            const lines = (this.#piece + textOf(event.content)).split("\n");
            this.#piece = lines.pop() ?? "";
            return lines;
        }
        return [...this.end(), ...gemini(event)];
    }
}
export function modelOf({ type, subtype, model, claude_code_version: version, data }) {
    const isFirst = type === "init" || (type === "system" && subtype === "init");
    const name = textOf(type === "session.tools_updated" ? objectOf(data).model : isFirst && model);
    if (name === "")
        return undefined;
    return textOf(version) === "" ? name : `${name}, Claude Code ${version}`;
}
const isObject = (value) => typeof value === "object" && value !== null;
const objectOf = (value) => (isObject(value) ? value : {});
const listOf = (value) => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value) => (typeof value === "string" ? value : "");
const telling = [
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "pattern",
    "query",
    "url",
    "description",
    "prompt",
];
function use(name, input) {
    const fields = objectOf(input);
    const field = telling.find((one) => typeof fields[one] === "string");
    const about = field === undefined ? JSON.stringify(input ?? {}) : textOf(fields[field]);
    return `→ ${textOf(name)} ${short(about)}`.trimEnd();
}
function result(text, isError) {
    const first = text.split("\n").find((line) => line.trim() !== "") ?? "";
    return first === "" && !isError ? [] : [`← ${isError ? "error: " : ""}${short(first)}`];
}
function tokens(usage) {
    const { input_tokens: read, output_tokens: written } = objectOf(usage);
    return typeof read === "number" && typeof written === "number" ? [`Tokens: ${read} read, ${written} written`] : [];
}
function short(text) {
    const line = text.replace(/\s*\n\s*/g, " ⏎ ");
    return line.length > maxToolLength ? `${line.slice(0, maxToolLength)}…` : line;
}
function contentText(content) {
    return typeof content === "string"
        ? content
        : listOf(content)
            .map(({ text }) => textOf(text))
            .join("\n");
}
function claude(event) {
    const blocks = listOf(objectOf(event.message).content);
    if (event.type === "system" && /retry|error/.test(textOf(event.subtype)))
        return [
            `${textOf(event.subtype)}: ${short(textOf(event.error) || textOf(event.message) || JSON.stringify(event.error ?? {}))}`,
        ];
    if (event.type === "assistant")
        return blocks.flatMap((block) => {
            if (block.type === "text")
                return [textOf(block.text)];
            return block.type === "tool_use" ? [use(block.name, block.input)] : [];
        });
    if (event.type === "user")
        return blocks.flatMap((block) => block.type === "tool_result" ? result(contentText(block.content), block.is_error === true) : []);
    return event.type === "result" && event.is_error === true
        ? [`Error: ${textOf(event.result) || textOf(event.subtype)}`]
        : [];
}
function codex(event) {
    const item = objectOf(event.item);
    if (event.type === "item.started" && item.type === "command_execution")
        return [`→ ${short(textOf(item.command))}`];
    if (event.type === "item.completed")
        switch (item.type) {
            case "agent_message":
                return [textOf(item.text)];
            case "command_execution":
                return result(textOf(item.aggregated_output), item.exit_code !== 0);
            case "file_change":
                return listOf(item.changes).map(({ kind, path }) => `→ ${textOf(kind)} ${textOf(path)}`);
            case "mcp_tool_call":
                return [use(item.tool, item.arguments)];
            case "error":
                return [`Error: ${textOf(item.message)}`];
            default:
                return [];
        }
    if (event.type === "turn.completed")
        return tokens(event.usage);
    if (event.type === "turn.failed")
        return [`Error: ${textOf(objectOf(event.error).message)}`];
    return event.type === "error" ? [textOf(event.message)] : [];
}
function copilot(event) {
    const data = objectOf(event.data);
    switch (event.type) {
        case "assistant.message":
            return [textOf(data.content)];
        case "tool.execution_start":
            return [use(data.toolName, data.arguments)];
        case "tool.execution_complete":
            return result(textOf(objectOf(data.result).content) || textOf(objectOf(data.error).message), data.success !== true);
        case "session.info":
            return /^file_/.test(textOf(data.infoType)) ? [] : [short(textOf(data.message))];
        case "session.warning":
            return [short(textOf(data.message))];
        case "session.error":
            return [`Error: ${textOf(data.message)}`];
        case "result": {
            const { premiumRequests } = objectOf(event.usage);
            return typeof premiumRequests === "number" ? [`Premium requests: ${premiumRequests}`] : [];
        }
        default:
            return [];
    }
}
function gemini(event) {
    if (event.type === "tool_use")
        return [use(event.tool_name, event.parameters)];
    if (event.type === "tool_result")
        return result(textOf(event.output), event.status !== "success");
    if (event.type === "result" && event.status === "success")
        return tokens(event.stats);
    const error = textOf(objectOf(event.error).message) || textOf(event.message);
    return event.type === "error" || (event.type === "result" && event.status !== "success") ? [`Error: ${error}`] : [];
}
function opencode(event) {
    const part = objectOf(event.part);
    if (event.type === "text")
        return [textOf(part.text)];
    if (event.type === "tool_use") {
        const state = objectOf(part.state);
        return [
            use(part.tool, state.input),
            ...result(textOf(state.output) || textOf(state.error), state.status === "error"),
        ];
    }
    if (event.type !== "error")
        return [];
    const error = objectOf(event.error);
    return [`Error: ${textOf(objectOf(error.data).message) || textOf(error.name)}`];
}
