import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseEvent } from "../../../../src/action/comments/parse-event.ts";

const examples = createRequire(import.meta.url)("@octokit/webhooks-examples") as {
  name: string;
  examples: Record<string, unknown>[];
}[];

describe("an event", () => {
  test.each(["issue_comment", "pull_request_review_comment"] as const)("%s: parses GitHub's own examples", (name) => {
    const payloads = examples.find((one) => one.name === name)?.examples ?? [];
    expect(payloads.length).toBeGreaterThan(0);
    for (const payload of payloads) {
      const event = parseEvent(name, payload, "");
      expect(event).toMatchObject({
        action: payload.action,
        request: `comment=${(payload.comment as { id: number }).id}`,
        text: (payload.comment as { body: string }).body,
      });
      expect(event.position !== undefined).toBe(name === "pull_request_review_comment");
    }
  });

  test("any payload is either parsed or rejected with a message that names the event", () => {
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
            expect(typeof parseEvent(name, payload, "").author.login).toBe("string");
          } catch (error) {
            expect(String(error)).toContain(`the payload of ${name}`);
          }
        }
      }),
    );
  });
});
