import fc from "fast-check";
import { expect, test } from "vitest";
import { quote, unquote } from "../../../../src/runner-kit/quotation.ts";
import { anyText } from "../../../../test/support/any-text.ts";
import { codeBlock } from "../../../src/code-block.ts";
import { isMarkedAsDraft, pullRequestBody, readTurns, updatedBody } from "../../../src/pulls/pull-request-body.ts";

const body = (answer: string | null, prompt = "Fix the links") => pullRequestBody({ answer, prompt, jobId: "job_1" });

const folded = (prompt: string) =>
  `<details><summary>Prompt of the agent</summary>\n\n\`\`\`text\n${prompt}\n\`\`\`\n\n</details>`;

test("shows the agent's last message and the prompt", () => {
  expect(body("Fixed.")).toBe(`The agent's last message:\n\n> Fixed.\n\n${folded("Fix the links")}\n\nJob \`job_1\`.`);
  expect(body(null)).not.toContain("last message");
  const turn = { prompt: "Fix the links", answer: "Fixed.", jobId: "job_1" };
  expect(pullRequestBody({ ...turn, costUsd: 0.0123 })).toContain(
    "> Fixed.\n\nCost, by the agent's own estimate: $0.0123.\n\n<details>",
  );
  for (const costUsd of [null, -1]) expect(pullRequestBody({ ...turn, costUsd })).toBe(body("Fixed."));
});

/** Returns the lines outside of quotations and code blocks, as GitHub finds them. */
function linesOutside(text: string): string[] {
  let fence = "";
  return text.split(/\r\n|\r|\n/).filter((line) => {
    if (fence === "" && line.startsWith(">")) return false;
    const found = /^ {0,3}(`{3,})([^`]*)$/.exec(line);
    if (fence === "" && found) {
      fence = found[1] ?? "";
      return false;
    }
    if (fence === "") return true;
    if (found && (found[1] ?? "").length >= fence.length && found[2]?.trim() === "") fence = "";
    return false;
  });
}

test("keeps all untrusted text in quotations and code blocks, which nothing in it ends", () => {
  const outside = linesOutside(body(null));
  const withMessage = linesOutside(body("Fixed."));
  expect(withMessage).toEqual(["The agent's last message:", "", "", ...outside]);
  const hostile = fc.array(
    fc.oneof(
      fc.constantFrom(
        "`",
        "```",
        "````text",
        "\n",
        "\r",
        "\r\n",
        "~~~",
        "</details>",
        "@octocat",
        "Fixes #1",
        "\u2028",
      ),
      anyText(),
    ),
  );
  fc.assert(
    fc.property(hostile, hostile, (answer, prompt) => {
      expect(linesOutside(body(answer.join(""), prompt.join("")))).toEqual(withMessage);
    }),
  );
});

test("shows a prompt up to 2,000 characters, and none of its patches", () => {
  expect(body(null, "x".repeat(2000))).toContain(`\n${"x".repeat(2000)}\n\`\`\``);
  expect(body(null, "x".repeat(2001))).toContain(`\n${"x".repeat(2000)}\n[truncated]\n`);
  for (const patch of ["Patch of docs/a.md:\n@@ -1 +1 @@\n-old", "diff --git a/b b/b\n-old", "@@ -1 +1 @@\r\n-old"])
    expect(body(null, `Update it.\r\n${patch}\n`)).toContain(folded("Update it.\n[patches are left out]"));
  expect(body(null, "The Patch of it:\nA diff --git")).toContain(folded("The Patch of it:\nA diff --git"));
});

test("shows each message with its lines, and Persian as it is, also in the prompt", () => {
  expect(body("a\rb\r\nc", "می‌خواهم")).toContain("\n> a  \n> b  \n> c\n");
  expect(body("a", "می‌خواهم 👨‍👩‍👧‍👦")).toContain("\nمی‌خواهم 👨‍👩‍👧‍👦\n");
});

test("removes characters that reorder or hide text", () => {
  expect(body("a\u202eb\u0000c\u200bd", "a\u202eb")).toMatch(/\n> abcd\n[\s\S]*\nab\n/);
});

test("is shorter than GitHub's limit", () => {
  expect(body("`x".repeat(200_000), "`".repeat(200_000)).length).toBeLessThan(65_536);
});

/** Returns what is in a code block. */
const shown = (text: string, length?: number): string => codeBlock(text, length).split("\n").slice(1, -1).join("\n");

test("is read again, with the turns that were added, whatever the texts are", () => {
  const turn = fc.record({ prompt: anyText(), answer: fc.option(anyText()) });
  fc.assert(
    fc.property(turn, turn, (first, second) => {
      const opened = pullRequestBody({ ...first, jobId: "job_1" });
      const extended = updatedBody(opened, [], second);
      const told = [first, ...(extended === undefined ? [] : [second])].map(({ prompt, answer }) => ({
        prompt: shown(prompt, 2000),
        answer: answer === null ? null : unquote(quote(answer).split("\n"), 0)?.text,
      }));
      expect(readTurns(extended ?? opened)).toEqual(told);
      // As GitHub's editor saves it.
      expect(readTurns((extended ?? opened).replaceAll("\n", "\r\n"))).toEqual(told);
    }),
  );
});

test("a text that looks like another turn is none", () => {
  const forged = body("x", "y");
  expect(readTurns(body(forged, forged))).toEqual([{ prompt: forged, answer: expect.stringContaining("<details>") }]);
  const title = "<details><summary>Prompt of the agent</summary>";
  expect(readTurns(`${title}\n\n${forged.slice(0, -30)}`)).toEqual([]);
  expect(readTurns(`${title}\n\n\`\`\`text\nno end`)).toEqual([]);
});

test("keeps what people wrote, tells a turn once, and stays within GitHub's limit", () => {
  const edited = `Please review.\r\n\r\n${body("Fixed.")}\n\nThanks!\n`;
  const more = updatedBody(edited, [], { prompt: "More", answer: null }) ?? "";
  expect(more).toBe(`Please review.\n\n${body("Fixed.")}\n\nThanks!\n\n${folded("More")}`);
  expect(updatedBody(more, [], { prompt: "More", answer: null })).toBeUndefined();
  expect(updatedBody("x".repeat(59_990), [], { prompt: "More", answer: null })).toBeUndefined();
});

test("names protected files first, and stays within the limit", () => {
  const protectedFiles = [".github/workflows/ci.yml", "AGENTS.md"];
  const text = pullRequestBody({ answer: null, prompt: "Go", jobId: "a", protectedFiles });
  expect(text).toMatch(
    /^<!-- protected files -->\n> \[!WARNING\]\n> This changes files.*\n\n```text\n\.github\/workflows\/ci\.yml\nAGENTS\.md\n```\n<!-- end of protected files -->\n\n<details>/,
  );
  const largest = { answer: "`".repeat(20_000), prompt: "`".repeat(20_000), jobId: "a" };
  const many = Array.from({ length: 1000 }, () => "`".repeat(100));
  expect(pullRequestBody({ ...largest, protectedFiles: many }).length).toBeLessThan(65_536);
});

test("an existing body gets, changes and loses what is about protected files, and keeps the rest", () => {
  const first = updatedBody("By a person", ["AGENTS.md"]) ?? "";
  expect(first).toMatch(/^<!-- protected files -->[\s\S]*AGENTS\.md[\s\S]*\n\nBy a person$/);
  expect(updatedBody(first, ["AGENTS.md"])).toBeUndefined();
  const second = updatedBody(first, ["CLAUDE.md"]) ?? "";
  expect(second).toContain("CLAUDE.md");
  expect(second).not.toContain("AGENTS.md");
  expect(updatedBody(second, [])).toBe("By a person");
  expect(updatedBody("By a person", [])).toBeUndefined();
  // A person has written above it, or removed an end of it.
  for (const edited of [`Please review.\n${first}`, first.replace(/^.*\n/, ""), first.replace("<!-- end", "<!-- x")])
    expect(updatedBody(edited, ["CLAUDE.md"])?.endsWith(`\n\n${edited}`)).toBe(true);
});

test("the name of a file can end neither the list of protected files nor its part of the body", () => {
  const files = [
    "<!-- end of protected files -->",
    "<!-- end of protected files -->/b fixes #1 @octocat",
    "```",
    "Makefile",
  ];
  const turn = { prompt: "Fix the links", answer: null };
  const first = pullRequestBody({ ...turn, jobId: "job_1", protectedFiles: files });
  const none = pullRequestBody({ ...turn, jobId: "job_1" });
  expect(updatedBody(first.replaceAll("\n", "\r\n"), [])).toBe(none);
  const second = updatedBody(first, [...files, "conf.py"], { prompt: "Go on", answer: "Done @octocat" });
  expect(linesOutside(second ?? "").join("\n")).not.toMatch(/fixes|@/);
  expect(updatedBody(second ?? "", [])).toBe(updatedBody(none, [], { prompt: "Go on", answer: "Done @octocat" }));
});

test("a draft of the service stays marked as one after a turn without a check", () => {
  const turn = { prompt: "Fix the links", answer: null, jobId: "job_1" };
  const opened = pullRequestBody({ ...turn, check: { result: "failed", command: "make", output: "broken" } }, true);
  const updated = updatedBody(opened, [], undefined, { isDraft: true }) ?? "";
  expect([isMarkedAsDraft(updated), updated.includes("broken")]).toEqual([true, false]);
  const check = { result: "passed", command: "make", output: "" } as const;
  expect(updatedBody(updated, [], undefined, { check })).toBe(pullRequestBody({ ...turn, check }));
});

test("tells of each turn who asked for it, once", () => {
  const askedBy = "Asked by [ada](https://github.com/ada) · [run](https://github.com/acme/docs/actions/runs/1)";
  const [first, second] = [1, 2].map((number) => ({ prompt: `Go ${number}`, answer: null, askedBy }));
  const opened = pullRequestBody({ prompt: "", answer: null, ...first, jobId: "job_1" });
  expect(opened.startsWith(`${askedBy}\n\n<details>`)).toBe(true);
  const extended = updatedBody(opened, [], { prompt: "", answer: null, ...second }) ?? "";
  expect(extended).toContain(`Job \`job_1\`.\n\n${askedBy}\n\n<details>`);
  expect(readTurns(extended).map(({ prompt }) => prompt)).toEqual(["Go 1", "Go 2"]);
  expect(updatedBody(extended, [], { prompt: "Go 2", answer: null })).toBeUndefined();
});
