/** Where a prompt wants the changes. */
const placeholder = /\{\{\s*changes\s*\}\}/g;

/** Puts a section at the prompt's `{{ changes }}`, else at its end. An empty section leaves nothing there. */
export function addSection(prompt: string, section: string): string {
  if (prompt.search(placeholder) !== -1) return prompt.replace(placeholder, () => section);
  return section === "" ? prompt : `${prompt}\n\n${section}`;
}
