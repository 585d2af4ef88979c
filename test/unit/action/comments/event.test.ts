import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { parseEvent } from "../../../../src/action/comments/event.ts";
import { formatMarker, parseMarker } from "../../../../src/action/comments/marker.ts";
import { fillTemplate } from "../../../../src/action/comments/prompt-template.ts";
import { parseTrigger } from "../../../../src/action/comments/trigger.ts";
import { hostileText } from "../../../support/hostile-text.ts";

const examples = createRequire(import.meta.url)("@octokit/webhooks-examples") as {
  name: string;
  examples: Record<string, unknown>[];
}[];

describe("an event", () => {
  test.each(["issue_comment", "pull_request_review_comment"] as const)("%s: parses GitHub's own examples", (name) => {
    const payloads = examples.find((one) => one.name === name)?.examples ?? [];
    expect(payloads.length).toBeGreaterThan(0);
    for (const payload of payloads) {
      const event = parseEvent(name, payload);
      expect(event).toMatchObject({
        action: payload.action,
        comment: { id: expect.any(Number), text: expect.any(String) },
      });
      expect(event.review !== undefined).toBe(name === "pull_request_review_comment");
    }
  });

  test("any payload is either parsed or rejected with a ZodError", () => {
    const invalid = fc.dictionary(
      fc.constantFrom("action", "comment", "issue", "pull_request", "repository"),
      fc.oneof(
        fc.jsonValue(),
        fc.dictionary(fc.constantFrom("id", "body", "user", "number", "title", "owner", "name"), fc.jsonValue()),
      ),
    );
    fc.assert(
      fc.property(fc.oneof(invalid, fc.jsonValue()), (payload) => {
        for (const name of ["issue_comment", "pull_request_review_comment"] as const) {
          try {
            expect(typeof parseEvent(name, payload).author.login).toBe("string");
          } catch (error) {
            expect(error).toBeInstanceOf(z.core.$ZodError);
          }
        }
      }),
    );
  });
});

test("only a comment that begins with the phrase has an instruction, for any text", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const trigger = parseTrigger({ action: "created", comment: { id: 1, text } }, "/agent");
      const begins = text.trimStart().toLowerCase().startsWith("/agent");
      if ("instruction" in trigger) expect(begins).toBe(true);
      else if (!begins) expect(trigger.skip).toBe("no-trigger");
    }),
  );
});

test("a marker is one line and is parsed as written, for any usable ids", () => {
  fc.assert(
    fc.property(hostileText, hostileText, fc.nat(), (project, job, commentId) => {
      fc.pre(project.isWellFormed() && job.isWellFormed() && project !== "" && ![".", "..", ""].includes(job));
      fc.pre(!/\p{Cc}/u.test(job));
      const marker = { projectId: project, jobId: job, commentId };
      const line = formatMarker(marker);
      expect(line).not.toContain("\n");
      expect(line.indexOf("-->")).toBe(line.length - 3);
      expect(parseMarker(`text\n\n${line}`)).toEqual(marker);
    }),
  );
});

test("a template is filled in in a single pass, for any values", () => {
  fc.assert(
    fc.property(hostileText, hostileText, (instruction, title) => {
      const event = {
        action: "created",
        owner: "acme",
        repo: "docs",
        isPublic: false,
        comment: { id: 1, text: "" },
        author: { login: "writer", isBot: false },
        subject: { kind: "issue" as const, number: 1, title: `{{ body }}${title}`, body: "secret", url: "u" },
      };
      const filled = fillTemplate("{{ instruction }}|{{ title }}", `${instruction}{{ body }}`, event);
      expect(filled).toBe(`${instruction}{{ body }}|{{ body }}${title}`);
    }),
  );
});
