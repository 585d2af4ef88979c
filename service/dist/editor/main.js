import { text } from "node:stream/consumers";
import { applyInstruction } from "./documentation.js";
import { parseInstructions } from "./instructions.js";
const instructions = parseInstructions(await text(process.stdin));
for (const instruction of instructions)
    console.log(applyInstruction(instruction, process.cwd()));
if (instructions.length === 0) {
    console.log(`No file was changed: the prompt contains no instruction that this editor understands. It understands:
  Add a page "TITLE" [in "FOLDER"] [that says "TEXT"]
  Add a section "TITLE" to "PAGE" [that says "TEXT"]
  Replace "PHRASE" with "PHRASE"
  Fix the link "ADDRESS" to "ADDRESS"`);
}
