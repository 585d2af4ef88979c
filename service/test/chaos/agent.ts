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
 * @param runs - a file that gets a line when a run begins, and when it ends
 */
export const agentCommand = (runs: string): string => `prompt=$(cat "$AGENT_PROMPT_FILE")
echo "begin $prompt" >> ${runs}
count=$(grep -cx "begin $prompt" ${runs})
case $prompt in *[01]) sleep 1;; *[278]) sleep 5;; esac
code=0
case $prompt in
  *7) ;;
  *8) [ "$count" -gt 1 ] || echo "$prompt" >> ${file};;
  *9) if [ "$count" -gt 1 ]; then code=1; else echo "$prompt" >> ${file}; fi;;
  *) echo "$prompt" >> ${file};;
esac
echo "end $prompt" >> ${runs}
exit $code`;

/** Returns how many runs of agents there were, and how many of them began after another one for the same prompt had ended. */
export function countRuns(text: string): { runs: number; again: number } {
  const ended = new Set<string>();
  let [runs, again] = [0, 0];
  for (const line of text.split("\n")) {
    const [, event, prompt = ""] = /^(begin|end) (.*)$/.exec(line) ?? [];
    if (event === "end") ended.add(prompt);
    if (event !== "begin") continue;
    runs++;
    if (ended.has(prompt)) again++;
  }
  return { runs, again };
}
