/**
 * Returns the blocks of code on a page by the titles of their sections, in their order.
 *
 * @param language - as on the page; empty for none
 */
export function pageBlocks(page: string, language: string): Map<string, string[]> {
  return new Map(
    page.split(/^#{1,3} /m).map((section): [string, string[]] => {
      const [title = ""] = section.split("\n");
      const blocks = [...section.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)];
      return [title, blocks.flatMap(([, of, code = ""]) => (of === language ? [code] : []))];
    }),
  );
}
