/** What the agent changes: its prompt becomes the last line of this file. */
export const file = "work.md";

/** Whether the agent changes something for a prompt; `perhaps` if only its first run does. */
export type Change = "always" | "never" | "perhaps";

/** Returns what the agent does for a prompt, whose last digit decides that. */
export function changeOf(prompt: string): Change {
  if (prompt.endsWith("7")) return "never";
  return prompt.endsWith("8") ? "perhaps" : "always";
}

/**
 * Returns the command of an agent. Some runs take longer, so that faults meet them, some change nothing, and some do something else
 * when they are run again.
 *
 * @param runs - a file that gets a line when a run begins, when it does so beside another run for the same prompt, and when it ends.
 *   Beside it are files that running agents lock
 */
export const agentCommand = (runs: string): string => `prompt=$(cat "$AGENT_PROMPT_FILE")
# Until its last process has ended. Only Linux has the program.
if command -v flock > /dev/null; then
  exec 9> "${runs}.$(echo "$prompt" | tr -c 'a-z0-9\\n' -)"
  flock --nonblock 9 || echo "beside $prompt" >> ${runs}
fi
echo "begin $prompt" >> ${runs}
count=$(grep -cx "begin $prompt" ${runs})
case $prompt in *[01]) sleep 1;; *[278]) sleep 5;; esac
code=0
# On a full disk, the file would be empty, and the agent would say that all is well.
add() { until echo "$prompt" >> ${file}; do sleep 1; done; }
case $prompt in
  *7) ;;
  *8) [ "$count" -gt 1 ] || add;;
  *9) if [ "$count" -gt 1 ]; then code=1; else add; fi;;
  *) add;;
esac
echo "end $prompt" >> ${runs}
exit $code`;

/** What agents did, by what they wrote. */
export interface AgentRuns {
  runs: number;
  /** How many of them began after another one for the same prompt had ended. */
  again: number;
  /** The prompts of runs that began while another one for the same prompt was running. */
  beside: string[];
  /** The prompts of runs that have ended. */
  ended: Set<string>;
}

/** Reads what agents did. */
export function readRuns(text: string): AgentRuns {
  const read: AgentRuns = { runs: 0, again: 0, beside: [], ended: new Set() };
  for (const line of text.split("\n")) {
    const [, event, prompt = ""] = /^(begin|beside|end) (.*)$/.exec(line) ?? [];
    if (event === "end") read.ended.add(prompt);
    if (event === "beside") read.beside.push(prompt);
    if (event !== "begin") continue;
    read.runs++;
    if (read.ended.has(prompt)) read.again++;
  }
  return read;
}
