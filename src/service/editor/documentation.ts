import { isUtf8 } from "node:buffer";
import { globSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix, resolve, sep } from "node:path";
import type { Instruction } from "./instructions.ts";

/**
 * Carries out an instruction in the documentation of the current working tree, and says what was done or why nothing was.
 * It writes nothing outside the tree, nothing in `.git`, and nothing through a link.
 */
export function carryOut(instruction: Instruction, root: string): string {
  const documentation = new Documentation(root);
  switch (instruction.kind) {
    case "add-page":
      return documentation.addPage(instruction.title, instruction.folder, instruction.text);
    case "add-section":
      return documentation.addSection(instruction.title, instruction.page, instruction.text);
    case "replace":
      return documentation.replace(instruction.phrase, instruction.by);
    case "fix-link":
      return documentation.fixLink(instruction.link, instruction.by);
  }
}

class Documentation {
  readonly #root: string;
  /** Paths of the pages, with slashes; a file that is not in UTF-8 is none, since it could not be written as it was. */
  readonly #pages: string[];

  constructor(root: string) {
    this.#root = realpathSync(root);
    this.#pages = globSync("**/*.{md,mdx}", {
      cwd: this.#root,
      exclude: (path) => /(^|[\\/])(\.git|node_modules)$/.test(path),
    })
      .map((path) => path.replaceAll(sep, "/"))
      .filter((path) => lstatSync(join(this.#root, path)).isFile() && isUtf8(readFileSync(join(this.#root, path))))
      .sort();
  }

  addPage(title: string, folder: string | undefined, text: string | undefined): string {
    const home = folder ?? (this.#pages.some((page) => page.startsWith("docs/")) ? "docs" : ".");
    const name = slug(title);
    if (name === "") return `The title "${title}" has no letter or digit to name a file by.`;
    const page = posix.join(home, `${name}${this.#usualExtension()}`);
    const path = this.#inside(page);
    if (path === undefined) return `"${home}" is not a folder of this repository.`;
    if (lstatSync(path, { throwIfNoEntry: false })) return `There is a page ${page} already.`;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `# ${title}\n${text === undefined ? "" : `\n${text}\n`}`, { flag: "wx" });
    return `Added the page ${page}.`;
  }

  addSection(title: string, wanted: string, text: string | undefined): string {
    const page = this.#find(wanted);
    if (page === undefined) return `There is no page "${wanted}".`;
    const before = this.#read(page);
    if (before.split("\n").some((line) => line.replace(/^#+\s*/, "") === title && line.startsWith("#")))
      return `The page ${page} has a section "${title}" already.`;
    this.#write(page, `${before.trimEnd()}\n\n## ${title}\n${text === undefined ? "" : `\n${text}\n`}`);
    return `Added the section "${title}" to ${page}.`;
  }

  replace(phrase: string, by: string): string {
    const changed = this.#rewrite((text) => text.replaceAll(phrase, () => by));
    return changed.length === 0
      ? `"${phrase}" stands nowhere in the documentation.`
      : `Replaced "${phrase}" with "${by}" in ${changed.join(", ")}.`;
  }

  fixLink(link: string, by: string): string {
    const target = new RegExp(
      `(\\]\\([ \\t]{0,20}<?|^[ \\t]{0,20}\\[[^\\]\\n]{1,500}\\]:[ \\t]{0,20}<?)${RegExp.escape(link)}(?=[\\s)>#?]|$)`,
      "gm",
    );
    const changed = this.#rewrite((text) => text.replace(target, (_match, before: string) => before + by));
    return changed.length === 0
      ? `No link goes to "${link}".`
      : `Links to "${link}" now go to "${by}" in ${changed.join(", ")}.`;
  }

  #rewrite(change: (text: string) => string): string[] {
    return this.#pages.filter((page) => {
      const before = this.#read(page);
      const after = change(before);
      if (after !== before) this.#write(page, after);
      return after !== before;
    });
  }

  /** A page by its path, with or without its extension, or by its title. */
  #find(wanted: string): string | undefined {
    const bare = (path: string) => path.replace(/\.mdx?$/, "");
    return (
      this.#pages.find((page) => page === wanted || bare(page) === wanted) ??
      this.#pages.find((page) => bare(basename(page)) === bare(wanted) || bare(basename(page)) === slug(wanted)) ??
      this.#pages.find((page) => /^#\s+(.*)$/m.exec(this.#read(page))?.[1]?.trim() === wanted)
    );
  }

  /** The path of a file in the tree, or none where it would be elsewhere or behind a link. */
  #inside(page: string): string | undefined {
    const path = resolve(this.#root, page);
    if (page.includes("\\") || !path.startsWith(this.#root + sep) || /(^|\/)\.git(\/|$)/i.test(page)) return undefined;
    let folder = dirname(path);
    while (folder.length >= this.#root.length) {
      const entry = lstatSync(folder, { throwIfNoEntry: false });
      if (entry && !entry.isDirectory()) return undefined;
      if (folder === this.#root) return path;
      folder = dirname(folder);
    }
    return undefined;
  }

  #usualExtension(): string {
    const mdx = this.#pages.filter((page) => page.endsWith(".mdx")).length;
    return mdx * 2 > this.#pages.length ? ".mdx" : ".md";
  }

  #read(page: string): string {
    return readFileSync(join(this.#root, page), "utf8");
  }

  #write(page: string, text: string): void {
    writeFileSync(join(this.#root, page), text);
  }
}

const longestName = 80;

/** A title as the name of a file: letters and digits of any script, with dashes between. */
function slug(title: string): string {
  return title
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .slice(0, longestName)
    .replace(/^-+|-+$/g, "");
}
