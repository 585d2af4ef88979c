import * as z from "zod/mini";

/** Repository permissions, in ascending order. GitHub's documentation: "Repository roles". */
export const permissions = ["read", "triage", "write", "maintain", "admin"] as const;
export type Permission = (typeof permissions)[number];

export interface PermissionRules {
  requiredPermission: Permission;
  /** Logins of bots that may start jobs, in lower case. */
  allowedBots: ReadonlySet<string>;
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
export function isSufficient(response: unknown, required: Permission): boolean | undefined {
  const { role_name: role, permission } = permissionResponse.safeParse(response).data ?? {};
  const name = isPermission(role) ? role : permission;
  if (name === "none") return false;
  return isPermission(name) ? permissions.indexOf(name) >= permissions.indexOf(required) : undefined;
}

function isPermission(name: string | undefined): name is Permission {
  return (permissions as readonly (string | undefined)[]).includes(name);
}
