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
        // Printed after each step. After one whose reason is `tool-calls`, the model is asked again.
        isFinal: (event) => event.type === "error" ||
            (event.type === "step_finish" &&
                !/^(?:tool-calls|unknown)$/.test(stringIn(event, "part", "reason") ?? "unknown")),
    },
};
/** Types of events that show no word of the model yet: what it is told, and that it begins. */
const before = /^(?:user(?:\.|$)|turn\.started$|step_start$|assistant\.(?!message$))/;
/** Returns whether an event of work is the model's own. Claude Code says errors of its API as words of a model named `<synthetic>`. */
const isOfModel = (event) => !before.test(stringIn(event, "type") ?? "") &&
    event.role !== "user" &&
    stringIn(event, "item", "type") !== "error" &&
    stringIn(event, "message", "model") !== "<synthetic>";
/**
 * Remembers the final event of an agent, by which the agent itself says how its turn ended. It counts while no event follows that
 * shows more work; of two, the last one. Events of other sessions, such as those of sub-agents, say nothing.
 */
export class FinalEvent {
    #ending;
    #session;
    #event;
    #hasWorked = false;
    #model;
    constructor(format) {
        this.#ending = endings[format];
    }
    /** The final event; `undefined` if there is none, or the agent went on after it. */
    get event() {
        return this.#event;
    }
    /** The session that its first event names; `undefined` before. */
    get session() {
        return this.#session;
    }
    /** Whether an event of its model has shown a word or a tool. */
    get hasWorked() {
        return this.#hasWorked;
    }
    /** The model that it says it uses; `undefined` if it says none, or that it chooses one for each request. */
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
