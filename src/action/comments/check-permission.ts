import * as z from "zod/mini";
import { messageOf } from "../../client/errors.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import type { GitHub } from "../runner/github.ts";
import type { ThreadEvent } from "./event.ts";
import { type Permission, type PermissionRules, permissions } from "./permission.ts";

/** Returns why the author may not start anything; `undefined` if they may. */
export async function checkPermission(
  { author, owner, repo, triggerKind }: ThreadEvent,
  rules: PermissionRules,
  github: GitHub,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  if (author.isBot) {
    return rules.allowedBots.has(author.login.toLowerCase())
      ? undefined
      : { kind: "skipped", reason: "bot", triggerKind };
  }
  const route = "GET /repos/{owner}/{repo}/collaborators/{username}/permission";
  try {
    const response = await github.request(route, { owner, repo, username: author.login }, { timeoutMs, signal });
    const isPermitted = isSufficient(response, rules.requiredPermission);
    if (isPermitted === undefined) {
      return { kind: "blocked", cause: "permission", triggerKind, detail: "GitHub's response names no permission" };
    }
    return isPermitted ? undefined : { kind: "skipped", reason: "not-permitted", triggerKind };
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "permission", triggerKind, detail: messageOf(error) };
  }
}

const permissionResponse = z.object({
  role_name: z.catch(z.optional(z.string()), undefined),
  permission: z.catch(z.optional(z.string()), undefined),
});

/**
 * Returns whether a collaborator's permission is sufficient; `undefined` if GitHub's response names none. `role_name`
 * distinguishes all five; an organization's custom role falls back to `permission`.
 * GitHub's documentation: "Get repository permissions for a user".
 */
function isSufficient(response: unknown, required: Permission): boolean | undefined {
  const { role_name: role, permission } = permissionResponse.safeParse(response).data ?? {};
  const name = isPermission(role) ? role : permission;
  if (name === "none") return false;
  return isPermission(name) ? permissions.indexOf(name) >= permissions.indexOf(required) : undefined;
}

function isPermission(name: string | undefined): name is Permission {
  return (permissions as readonly (string | undefined)[]).includes(name);
}
