import { describe, expect, test } from "vitest";
import { runCommentStep } from "../support/comment-step.ts";
import type { GitHubFault } from "../support/github-server.ts";
import { rows } from "../support/thorough.ts";

const json = { "content-type": "application/json" };

describe("the permission check", () => {
  test.each(rows([403, 404, 500], 1))(
    "fails the step on a permanent %i, and starts and writes nothing",
    async (status) => {
      const fault: GitHubFault = (route, _n, response) =>
        route.endsWith("/permission") && Boolean(response.writeHead(status, json).end('{"message":"Not now"}'));
      const { exitCode, outputs, annotations, posts, github } = await runCommentStep({ fault });
      expect([exitCode, outputs.outcome, outputs["job-id"]]).toEqual([1, "error", ""]);
      expect(annotations).toEqual([
        expect.stringMatching(/^error Cannot check the permission: The permission .* cannot be read/),
      ]);
      expect(posts).toEqual([]);
      expect(github.requests.every((request) => request.includes("/permission"))).toBe(true);
    },
  );
});
