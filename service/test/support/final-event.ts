import type { Agent } from "../../src/agents/agent.ts";
import { type AgentEvent, parseEvents } from "../../src/agents/events.ts";
import { FinalEvent } from "../../src/agents/final-event.ts";

/** Returns the final event in the stdout of an agent, as its supervisor finds it. */
export function finalEventIn({ eventFormat }: Pick<Agent, "eventFormat">, stdout: string): AgentEvent | undefined {
  if (eventFormat === undefined) return undefined;
  const final = new FinalEvent(eventFormat);
  for (const event of parseEvents(stdout)) final.add(event);
  return final.event;
}
