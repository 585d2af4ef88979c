/** Marks the place of the changes in a prompt. */
const placeholder = /\{\{\s*changes\s*\}\}/g;

/**
 * Puts a section at the prompt's `{{ changes }}`, or at its end. An empty section leaves nothing there; without a section,
 * the prompt stays as it is.
 */
export function addSection(prompt: string, section: string | undefined): string {
  if (section === undefined) return prompt;
  if (prompt.search(placeholder) !== -1) return prompt.replace(placeholder, () => section);
  return section === "" ? prompt : `${prompt}\n\n${section}`;
}
