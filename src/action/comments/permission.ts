/** Repository permissions, in ascending order. GitHub's documentation: "Repository roles". */
export const permissions = ["read", "triage", "write", "maintain", "admin"] as const;
export type Permission = (typeof permissions)[number];

export interface PermissionRules {
  requiredPermission: Permission;
  /** Logins of bots that may start jobs, in lower case. */
  allowedBots: ReadonlySet<string>;
}
