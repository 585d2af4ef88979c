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
  test.each(["issue_comment", "pull_request_review_comment"] as const)("%s: GitHub's own examples are read", (name) => {
    const payloads = examples.find((one) => one.name === name)?.examples ?? [];
    expect(payloads.length).toBeGreaterThan(0);
    for (const payload of payloads) {
      const event = parseEvent(name, payload);
      expect(event).toMatchObject({
        action: payload.action,
        comment: { id: expect.any(Number), text: expect.any(String) },
      });
      expect(event?.review !== undefined).toBe(name === "pull_request_review_comment");
    }
  });

  test("whatever the payload, there is an event or nothing", () => {
    const broken = fc.dictionary(
      fc.constantFrom("action", "comment", "issue", "pull_request", "repository"),
      fc.oneof(
        fc.jsonValue(),
        fc.dictionary(fc.constantFrom("id", "body", "user", "number", "title", "owner", "name"), fc.jsonValue()),
      ),
    );
    fc.assert(
      fc.property(fc.oneof(broken, fc.jsonValue()), (payload) => {
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

test("whatever the comment, only one that begins with the phrase asks for something", () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const trigger = parseTrigger({ action: "created", comment: { id: 1, text } }, "/agent");
      const begins = text.trimStart().toLowerCase().startsWith("/agent");
      if ("instruction" in trigger) expect(begins).toBe(true);
      else if (!begins) expect(trigger.skip).toBe("no-trigger");
    }),
  );
});

test("whatever the ids, a marker is one line that is read as it was written", () => {
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

test("whatever is filled in, it is filled in once", () => {
  fc.assert(
    fc.property(hostileText, hostileText, (instruction, title) => {
      const event = {
        action: "created",
        owner: "acme",
        repo: "docs",
        comment: { id: 1, text: "" },
        author: { login: "writer", isBot: false },
        subject: { kind: "issue" as const, number: 1, title: `{{ body }}${title}`, body: "secret", url: "u" },
      };
      const filled = fillTemplate("{{ instruction }}|{{ title }}", `${instruction}{{ body }}`, event);
      expect(filled).toBe(`${instruction}{{ body }}|{{ body }}${title}`);
    }),
  );
});
