import * as z from "zod/mini";
import type { CommentEvent } from "./event.ts";

/** A person's permission in a repository, from the least to the most. GitHub's documentation: "Repository roles". */
export const permissions = ["read", "triage", "write", "maintain", "admin"] as const;
export type Permission = (typeof permissions)[number];

export interface AccessRules {
  requiredPermission: Permission;
  /** Logins of bots that may trigger, in lower case. */
  allowedBots: ReadonlySet<string>;
}

/** Whether a bot may trigger; `undefined` for a person, whose permission decides. */
export function judgeBot({ login, isBot }: CommentEvent["author"], rules: AccessRules): "allowed" | "bot" | undefined {
  if (!isBot) return undefined;
  return rules.allowedBots.has(login.toLowerCase()) ? "allowed" : "bot";
}

const answer = z.object({
  role_name: z.catch(z.optional(z.string()), undefined),
  permission: z.catch(z.optional(z.string()), undefined),
});

/**
 * Whether GitHub's answer on a collaborator's permission grants what is required; `undefined` where it names none.
 * `role_name` tells the five apart; a role of the organization's own making falls back on `permission`.
 * GitHub's documentation: "Get repository permissions for a user".
 */
export function isPermitted(data: unknown, required: Permission): boolean | undefined {
  const { role_name: role, permission } = answer.safeParse(data).data ?? {};
  const name = isPermission(role) ? role : permission;
  if (name === "none") return false;
  return isPermission(name) ? permissions.indexOf(name) >= permissions.indexOf(required) : undefined;
}

function isPermission(name: string | undefined): name is Permission {
  return (permissions as readonly (string | undefined)[]).includes(name);
}
