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
/**
 * Remembers the final event of an agent, by which the agent itself says how its turn ended. It counts while no event follows that
 * shows more work; of two, the last one. Events of other sessions, such as those of sub-agents, say nothing.
 */
export class FinalEvent {
    #ending;
    #session;
    #event;
    constructor(format) {
        this.#ending = endings[format];
    }
    /** The final event; `undefined` if there is none, or the agent went on after it. */
    get event() {
        return this.#event;
    }
    add(event) {
        const { session: field, work, isFinal } = this.#ending;
        const session = stringIn(event, field);
        this.#session ??= session;
        if (session !== undefined && session !== this.#session)
            return;
        if (isFinal(event))
            this.#event = event;
        else if (work.test(stringIn(event, "type") ?? ""))
            this.#event = undefined;
    }
}
