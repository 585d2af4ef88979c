import { isUtf8 } from "node:buffer";
import { globSync, lstatSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { basename, dirname, join, posix, resolve, sep } from "node:path";
export function applyInstruction(instruction, root) {
    const documentation = new Documentation(root);
    switch (instruction.kind) {
        case "add-page":
            return documentation.addPage(instruction.title, instruction.folder, instruction.text);
        case "add-section":
            return documentation.addSection(instruction.title, instruction.page, instruction.text);
        case "replace":
            return documentation.replace(instruction.phrase, instruction.replacement);
        case "fix-link":
            return documentation.fixLink(instruction.link, instruction.replacement);
    }
}
class Documentation {
    #root;
    #pages;
    constructor(root) {
        this.#root = realpathSync(root);
        this.#pages = globSync("**/*.{md,mdx}", {
            cwd: this.#root,
            exclude: (path) => [".git", "node_modules"].includes(basename(path)),
        })
            .map((path) => path.replaceAll(sep, "/"))
            .filter((path) => lstatSync(join(this.#root, path)).isFile() && isUtf8(readFileSync(join(this.#root, path))))
            .sort();
    }
    addPage(title, folder, text) {
        const home = folder ?? (this.#pages.some((page) => page.startsWith("docs/")) ? "docs" : ".");
        const name = slug(title);
        if (name === "")
            return `The title "${title}" has no letter or digit for a file name.`;
        const page = posix.join(home, `${name}${this.#usualExtension()}`);
        const path = this.#resolve(page);
        if (path === undefined)
            return `"${home}" is not a folder in this repository.`;
        if (lstatSync(path, { throwIfNoEntry: false }))
            return `The page ${page} already exists.`;
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, `# ${title}\n${text === undefined ? "" : `\n${text}\n`}`, { flag: "wx" });
        return `Added the page ${page}.`;
    }
    addSection(title, name, text) {
        const page = this.#find(name);
        if (page === undefined)
            return `The page "${name}" was not found.`;
        const before = this.#read(page);
        if (before.split("\n").some((line) => line.replace(/^#+\s*/, "") === title && line.startsWith("#")))
            return `The page ${page} already has a section "${title}".`;
        this.#write(page, `${before.trimEnd()}\n\n## ${title}\n${text === undefined ? "" : `\n${text}\n`}`);
        return `Added the section "${title}" to ${page}.`;
    }
    replace(phrase, replacement) {
        const changed = this.#rewrite((text) => text.replaceAll(phrase, () => replacement));
        return changed.length === 0
            ? `"${phrase}" was not found in the documentation.`
            : `Replaced "${phrase}" with "${replacement}" in ${changed.join(", ")}.`;
    }
    fixLink(link, replacement) {
        const target = new RegExp(`(\\]\\([ \\t]{0,20}<?|^[ \\t]{0,20}\\[[^\\]\\n]{1,500}\\]:[ \\t]{0,20}<?)${RegExp.escape(link)}(?=[\\s)>#?]|$)`, "gm");
        const changed = this.#rewrite((text) => text.replace(target, (_match, before) => before + replacement));
        return changed.length === 0
            ? `No link to "${link}" was found.`
            : `Links to "${link}" now point to "${replacement}" in ${changed.join(", ")}.`;
    }
    #rewrite(change) {
        return this.#pages.filter((page) => {
            const before = this.#read(page);
            const after = change(before);
            if (after !== before)
                this.#write(page, after);
            return after !== before;
        });
    }
    #find(name) {
        const bare = (path) => path.replace(/\.mdx?$/, "");
        return (this.#pages.find((page) => page === name || bare(page) === name) ??
            this.#pages.find((page) => bare(basename(page)) === bare(name) || bare(basename(page)) === slug(name)) ??
            this.#pages.find((page) => /^#\s+(.*)$/m.exec(this.#read(page))?.[1]?.trim() === name));
    }
    #resolve(page) {
        const path = resolve(this.#root, page);
        if (page.includes("\\") || !path.startsWith(this.#root + sep) || /(^|\/)\.git\//i.test(page))
            return undefined;
        let folder = this.#root;
        for (const name of path.slice(this.#root.length).split(sep).slice(1, -1)) {
            folder = join(folder, name);
            const entry = lstatSync(folder, { throwIfNoEntry: false });
            if (!entry)
                return path;
            if (!entry.isDirectory())
                return undefined;
        }
        return path;
    }
    #usualExtension() {
        const mdx = this.#pages.filter((page) => page.endsWith(".mdx")).length;
        return mdx * 2 > this.#pages.length ? ".mdx" : ".md";
    }
    #read(page) {
        return readFileSync(join(this.#root, page), "utf8");
    }
    #write(page, text) {
        writeFileSync(join(this.#root, page), text);
    }
}
const maxSlugLength = 80;
function slug(title) {
    return title
        .normalize("NFKC")
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, "-")
        .slice(0, maxSlugLength)
        .replace(/^-|-$/g, "");
}
