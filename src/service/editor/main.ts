import { text } from "node:stream/consumers";
import { carryOut } from "./documentation.ts";
import { readInstructions } from "./instructions.ts";

// The agent that needs nothing: it takes the prompt from stdin, like any other, and works in the current directory.
const instructions = readInstructions(await text(process.stdin));
for (const instruction of instructions) console.log(carryOut(instruction, process.cwd()));
if (instructions.length === 0) {
  console.log(`Nothing was changed, since nothing in the prompt is a thing this editor can do. It understands:
  Add a page "TITLE" [in "FOLDER"] [that says "TEXT"]
  Add a section "TITLE" to "PAGE" [that says "TEXT"]
  Replace "PHRASE" with "PHRASE"
  Fix the link "ADDRESS" to "ADDRESS"`);
}
