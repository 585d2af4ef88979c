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
    const has = permissionIn(response);
    if (has === undefined) {
      return { kind: "blocked", cause: "permission", triggerKind, detail: "GitHub's response names no permission" };
    }
    const needs = rules.requiredPermission;
    if (has !== "none" && permissions.indexOf(has) >= permissions.indexOf(needs)) return undefined;
    return { kind: "skipped", reason: "not-permitted", triggerKind, has, needs };
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
 * Returns a collaborator's permission; `undefined` if GitHub's response names none. `role_name` distinguishes all five; an
 * organization's custom role falls back to `permission`.
 * GitHub's documentation: "Get repository permissions for a user".
 */
function permissionIn(response: unknown): Permission | "none" | undefined {
  const { role_name: role, permission } = permissionResponse.safeParse(response).data ?? {};
  const name = isPermission(role) ? role : permission;
  return name === "none" || isPermission(name) ? name : undefined;
}

function isPermission(name: string | undefined): name is Permission {
  return (permissions as readonly (string | undefined)[]).includes(name);
}
