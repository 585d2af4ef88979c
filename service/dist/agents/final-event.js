import { modelOf } from "./event-lines.js";
import { stringIn } from "./events.js";
const isResult = ({ type }) => type === "result";
const endings = {
    claude: { session: "session_id", work: /^(?:assistant|user|stream_event)$/, isFinal: isResult },
    codex: {
        session: "thread_id",
        work: /^(?:item\.|turn\.started$)/,
        isFinal: ({ type }) => type === "turn.completed" || type === "turn.failed",
    },
    copilot: { session: "sessionId", work: /^(?:assistant|tool|user)\./, isFinal: isResult },
    gemini: { session: "session_id", work: /^(?:message|tool_use|tool_result)$/, isFinal: isResult },
    opencode: {
        session: "sessionID",
        work: /^(?:step_start|step_finish|text|reasoning|tool_use)$/,
        isFinal: (event) => event.type === "error" ||
            (event.type === "step_finish" &&
                !/^(?:tool-calls|unknown)$/.test(stringIn(event, "part", "reason") ?? "unknown")),
    },
};
const before = /^(?:user(?:\.|$)|turn\.started$|step_start$|assistant\.(?!message$))/;
const isOfModel = (event) => !before.test(stringIn(event, "type") ?? "") &&
    event.role !== "user" &&
    stringIn(event, "item", "type") !== "error" &&
    stringIn(event, "message", "model") !== "<synthetic>";
export class FinalEvent {
    #ending;
    #session;
    #event;
    #hasWorked = false;
    #model;
    constructor(format) {
        this.#ending = endings[format];
    }
    get event() {
        return this.#event;
    }
    get session() {
        return this.#session;
    }
    get hasWorked() {
        return this.#hasWorked;
    }
    get model() {
        return this.#model === "auto" ? undefined : this.#model;
    }
    add(event) {
        const { session: field, work, isFinal } = this.#ending;
        const session = stringIn(event, field);
        this.#session ??= session;
        if (session !== undefined && session !== this.#session)
            return;
        this.#model = modelOf(event) ?? this.#model;
        if (isFinal(event))
            this.#event = event;
        else if (work.test(stringIn(event, "type") ?? "")) {
            this.#event = undefined;
            if (isOfModel(event))
                this.#hasWorked = true;
        }
    }
}
