import { expect, test } from "vitest";
import type { ChangedFile } from "../../../src/git/changed-files.ts";
import { readPathPatterns } from "../../../src/pulls/path-patterns.ts";
import { type CheckPorts, checkChange } from "../../../src/turns/check-change.ts";

type Files = Readonly<Record<string, string>>;

/** Checks a change between two states of a repository. Returns what the log says of it, or why it is not pushed. */
async function check(
  [before, after]: [Files, Files],
  options: Omit<CheckPorts, "repository"> = {},
  { links = [] as string[], texts = {} as Files } = {},
): Promise<string> {
  const contents = new Map<string, string>();
  const idOf = (files: Files, path: string): string | undefined => {
    const content = files[path];
    if (content !== undefined) contents.set(`of ${content}`, content);
    return content === undefined ? undefined : `of ${content}`;
  };
  const files = [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((path) => ({ path, before: idOf(before, path), after: idOf(after, path), isLink: links.includes(path) }))
    .filter((file) => file.before !== file.after) as ChangedFile[];
  const repository: CheckPorts["repository"] = {
    changedFiles: async () => files,
    paths: async () => ({ paths: Object.keys(before), submodules: [] }),
    async *readContents(ids) {
      for (const id of new Set(ids)) yield { id, content: contents.get(id) ?? before[id.replace("base:", "")] ?? "" };
    },
  };
  const said: string[] = [];
  const log = (text: string): void => void said.push(text);
  return checkChange({ repository, ...options }, "base", "head", texts, log).then(
    () => said.join(""),
    ({ message }: Error) => message,
  );
}

const docs = readPathPatterns(["docs/**"]);
const all = readPathPatterns(["**"]);

const project = { "docs/package.json": '{"name":"x"}' };

/** How a change ends: nothing is said, or people are to review it first, or it is not pushed. */
type End = "pushed" | "flagged" | "refused";

test.each<[path: string, content: string, flag: End, refuse: End, withOnly: End]>([
  ["docs/a.md", "x", "pushed", "pushed", "pushed"],
  ["docs/b.rst", "x", "pushed", "pushed", "pushed"],
  ["docs/c.mdx", "x", "pushed", "pushed", "pushed"],
  ["docs/d.png", "x", "pushed", "pushed", "pushed"],
  ["docs/x.svg", "x", "pushed", "refused", "pushed"],
  ["docs/run.ts", "x", "pushed", "refused", "pushed"],
  ["docs/x.mdx", "{run()}", "flagged", "refused", "refused"],
  ["docs/conf.py", "x", "flagged", "refused", "refused"],
  ["docs/link.md", "a.md", "flagged", "refused", "refused"],
  ["docs/package.json", '{"scripts":{"postinstall":"x"}}', "flagged", "refused", "refused"],
  ["docs/AGENTS.md", "x", "flagged", "refused", "refused"],
  [".github/workflows/ci.yml", "x", "flagged", "refused", "refused"],
])(
  "a change of %s (%s) is %s, with refuse %s, and then with --only %s",
  async (path, content, flag, refuse, withOnly) => {
    const links = path.includes("link") ? [path] : [];
    const endWith = async (options: Omit<CheckPorts, "repository">): Promise<End> => {
      const said = await check([project, { ...project, [path]: content }], options, { links });
      if (said === "") return "pushed";
      expect(said).toContain(path);
      if (said.startsWith("The change has files that run code")) return "flagged";
      expect(said).toContain("the change has files that --protected-files refuse does not allow");
      return "refused";
    };
    const [protectedFiles, only] = ["refuse" as const, path.startsWith("docs/") ? docs : all];
    expect([await endWith({}), await endWith({ protectedFiles }), await endWith({ protectedFiles, only })]).toEqual([
      ...[flag, refuse, withOnly],
    ]);
    expect(await endWith({ protectedFiles: "allow" })).toBe("pushed");
    const added = { moreProtected: [path] };
    expect([await endWith(added), await endWith({ ...added, protectedFiles, only })]).toEqual(["flagged", "refused"]);
  },
);

const vitePress = { "docs/.vitepress/config.ts": "x" };
const docusaurus = { "site/docusaurus.config.ts": "x" };
const fence = "```";

test.each<[path: string, page: string, tree: Files, isCode: boolean]>([
  ["docs/a.md", "{typeof process}", docusaurus, true],
  ["docs/a.md", "{typeof process}", {}, false],
  ["docs/a.md", "import a from 'a'\n", docusaurus, true],
  ["docs/a.md", `# A {#a}\n\nText.\n\n${fence}json\n{"a": 1}\n${fence}\n`, docusaurus, false],
  ["docs/a.md", `- ${fence}\n  a\n  ${fence}\n\n{run()}\n\n${fence}x\n${fence}\n`, docusaurus, true],
  ["docs/a.md", `- a\n\n  ${fence}\n{run()}\n  ${fence}\n`, docusaurus, true],
  ["docs/a.md", `- a\n\n  ${fence}\n  {a}\n  ${fence}\n`, docusaurus, false],
  ["docs/a.md", `${fence}\nx\n ${fence}\n{run()}\n${fence}\n`, docusaurus, true],
  ["docs/a.md", "<script setup>\nimport fs from 'node:fs'\n</script>\n", vitePress, true],
  ["docs/a.md", "{{ constructor }}", vitePress, true],
  ["docs/a.md", '<a :title="run()">', vitePress, true],
  ["docs/a.md", `<!--\n${fence}\n-->\n{{ run() }}\n<!--\n${fence}\n-->\n`, vitePress, true],
  ["docs/a.md", `<div>\n${fence}\n</div>\n\n{{ run() }}\n\n<div>\n${fence}\n</div>\n`, vitePress, true],
  ["docs/a.md", `${fence}js-vue\n{{ run() }}\n${fence}\n`, vitePress, true],
  ["docs/a.md", `Say {this}:\n${fence}yaml\na: \${{ b }}\n${fence}\n`, vitePress, false],
  ["docs/a.md", "<<< @/../../../proc/self/environ", vitePress, true],
  ["docs/a.md", "<!--@include: ../x-->", vitePress, true],
  ["docs/a.md", "{{ env }}", { "mkdocs.yml": "plugins: [macros]" }, true],
  ["docs/a.md", `${fence}\n\${{ env }}\n${fence}\n`, { "mkdocs.yml": "plugins: [search]" }, false],
  ["docs/a.md", '--8<-- "/proc/self/environ"', { "mkdocs.yml": "" }, true],
  ["docs/a.md", "---\ntemplateEngineOverride: njk\n---\n", { "eleventy.config.js": "" }, true],
  ["docs/a.md", "---js\n{ a: run() }\n---\n", {}, true],
  ["docs/a.md", "---\ntitle: a\n---\n\nText {a}.\n\n---\n\nmore\n", {}, false],
  ["docs/a.md", `${fence}{literalinclude} ../x\n${fence}\n`, {}, true],
  ["docs/a.md", `${fence}{code-cell}\nrun()\n${fence}\n`, {}, true],
  ["docs/a.md", `${fence}{note}\nA note.\n${fence}\n`, {}, false],
  ["docs/a.md", "It is `{python} run()`.", {}, true],
  ["docs/a.md", "{{#include ../x}}", {}, true],
  ["docs/a.md", '{{< readfile file="x" >}} {{< env HOME >}}', {}, true],
  ["docs/a.md", "![a](../../.git/config)", {}, true],
  ["docs/a.md", `See ../other.md:\nInclude the file.\n\n${fence}sh\ncat <<< "$a"\n${fence}\n`, {}, false],
  ["docs/a.rst", "A\n\n.. literalinclude:: /proc/self/environ\n", {}, true],
  ["docs/a.rst", ".. csv-table:: A\n   :file: x\n", {}, true],
  ["docs/a.rst", ".. image:: a.png\n\n.. note:: A {note}.\n\nUse include.\n", {}, false],
  ["docs/a.adoc", "include::../x[]\n", {}, true],
  ["docs/a.adoc", "= A\n\nimage::a.png[]\n\nSee {attribute}.\n", {}, false],
])("a page %s with %j is code for a build: %j %s", async (path, page, tree, isCode) => {
  const said = await check([tree, { ...tree, [path]: page }]);
  expect(said.includes(`${path} (code or includes)`)).toBe(isCode);
  const refused = await check([tree, { ...tree, [path]: page }], { protectedFiles: "refuse" });
  expect(refused.includes("refuse does not allow")).toBe(isCode);
  expect(
    await check([
      { ...tree, [path]: page },
      { ...tree, [path]: `${page}\nMore text.\n` },
    ]),
  ).toBe("");
});

test("pages that are built are judged in linear time", async () => {
  for (const text of ["../", ":", "```a ", "```{r\n", "{{", "<script ", ".. raw::\n ", "---js\n", "<!--", "- ```\n"]) {
    const page = text.repeat(200_000);
    await check([
      { ...vitePress, ...docusaurus },
      { ...vitePress, ...docusaurus, "a.md": page },
    ]);
  }
});

test("files outside of --only are not pushed, whatever else is allowed", async () => {
  const said = await check([{}, { "src/a.ts": "x", "docs/a.md": "x" }], { only: docs, protectedFiles: "allow" });
  expect(said).toBe("the change has files that --only does not allow: src/a.ts");
});

const value = "sk-secret-0123456789";
const before = { "a.md": "x\n", "README.md": `one\nuse ${value}\n`, "half.md": "sk-secret-\n" };
test.each<[what: string, after: Files, place?: string]>([
  ["in a file", { "a.md": `one\n${value}\n` }, "a.md, line 2"],
  ["as base64", { "a.md": `${Buffer.from(`x:${value}`).toString("base64")}\n` }, "a.md, line 1"],
  ["in the name of a file", { [value]: "x" }, "the name of a file"],
  ["in a line that was there", { "README.md": `${before["README.md"]}more\n` }],
  ["in a line that was in another file", { "docs.md": before["README.md"] }],
  ["in one more line", { "README.md": `${before["README.md"]}${value}\n` }, "README.md, line 3"],
  ["in a line that is another one now", { "README.md": `one\nnever use ${value}\n` }, "README.md, line 2"],
  ["over two lines, one of which was there", { "half.md": "sk-secret-\n0123456789\n" }, "half.md, line 1"],
  ["over two lines", { "b.md": before["README.md"], "a.md": `sk-secret-\n0123456789\n` }, "a.md, line 1"],
])("a secret of the service %s", async (_, after, place) => {
  const said = await check([before, after], { secrets: [{ name: "MODEL_KEY", value }] });
  expect(said).not.toContain(value);
  if (place === undefined) expect(said).toBe("");
  else expect(said).toContain(`the change has secrets of the service, so it is not pushed: MODEL_KEY in ${place}`);
});

test("a secret in a text that is published with the change", async () => {
  const texts = { "the message of the commit": `Use ${value}` };
  const said = await check([{}, { "a.md": "x" }], { secrets: [{ name: "MODEL_KEY", value }] }, { texts });
  expect(said).toContain("MODEL_KEY in the message of the commit");
});
