import type { AgentUnderTest } from "./agents.ts";
import type { ModelRequest } from "./scripted-model.ts";

/** An instruction to the scripted model, as part of a prompt: `[write FILE CONTENT]`, `[serve FILE CONTENT]`, `[forget FILE CONTENT]`, `[refuse]`, `[fail]` or `[wait]`. */
const instructions = /\[(write|serve|forget|refuse|fail|wait)(?: (\S+) (\S+))?\]/g;

/** Returns the last instruction of the user. */
function instructionIn({ messages }: ModelRequest): string[] {
  const said = messages.filter(({ role }) => role === "user").map(({ text }) => text);
  const [, ...found] = [...said.join("\n").matchAll(instructions)].at(-1) ?? [];
  return found.map((part) => part ?? "");
}

/** Makes an agent's model follow the instructions. `[wait]` continues once `isHeld` is false. */
export function script(agent: AgentUnderTest, state: { isHeld: boolean }) {
  return async (request: ModelRequest) => {
    // Beside the task, agents ask for titles, and Gemini CLI for the model to use.
    if (request.tools.length === 0 && agent.name !== "aider")
      return { text: '{"reasoning":"-","model_choice":"pro","complexity_reasoning":"-","complexity_score":50}' };
    const { messages } = request;
    const [verb, path = "", content = ""] = instructionIn(request);
    if (verb === "fail") return { error: { status: 400, message: "The model is broken." } };
    // What it said itself in an earlier turn is refused.
    if (verb === "forget" && messages.some(({ role, text }) => role === "model" && /Done: [A-Z]+\./.test(text)))
      return { error: { status: 400, message: "messages.1: `tool_use` ids were found without `tool_result` blocks" } };
    if (verb === "refuse") return { text: "I cannot do this." };
    while (verb === "wait" && state.isHeld) await new Promise((resolve) => setTimeout(resolve, 50));
    if (verb === "wait") return request.isToolResult ? { text: "Done." } : agent.write(request, "waited.md", "late");
    const writes = verb === "write" || verb === "forget";
    if (writes && !request.isToolResult) return agent.write(request, path, content);
    // The file is written by a command that leaves a process with the agent's output.
    if (verb === "serve" && !request.isToolResult && agent.run !== undefined)
      return agent.run(request, `echo '${content}' > '${path}'; (sleep 3000) & echo started`);
    return { text: writes ? `Done: ${content}.` : "Nothing to do." };
  };
}
