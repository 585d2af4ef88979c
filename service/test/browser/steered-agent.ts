import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../test/support/step.ts";
import type { Agent } from "../../src/agents/agent.ts";
import { scriptAgent } from "../support/agent-service.ts";

export interface SteeredAgent {
  agent: Agent;
  /** Makes the agent print a text. */
  print(text: string): void;
  /** Makes the agent change a file and end. */
  finish(): void;
}

/** Returns an agent that does what the test says, one step after another. For one turn at a time. */
export function steeredAgent(): SteeredAgent {
  const folder = temporaryFolder();
  let steps = 0;
  const agent = scriptAgent(`
    import { setTimeout } from "node:timers/promises";
    console.log("| started |", prompt);
    const counter = ${JSON.stringify(join(folder, "next"))};
    let step = fs.existsSync(counter) ? Number(fs.readFileSync(counter, "utf8")) : 0;
    for (let isOver = false; !isOver; ) {
      const file = ${JSON.stringify(folder)} + "/" + step;
      if (!fs.existsSync(file)) {
        await setTimeout(20);
        continue;
      }
      const { text } = JSON.parse(fs.readFileSync(file, "utf8"));
      step++;
      fs.writeFileSync(counter, String(step));
      isOver = text === undefined;
      if (!isOver) console.log(text);
    }
    fs.writeFileSync("note-" + step + ".md", "# Note\\n");
  `);
  const add = (step: { text?: string }): void => {
    // Complete as soon as it exists under its name.
    const file = join(folder, String(steps++));
    writeFileSync(`${file}.new`, JSON.stringify(step));
    renameSync(`${file}.new`, file);
  };
  return { agent, print: (text) => add({ text }), finish: () => add({}) };
}
