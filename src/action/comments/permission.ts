import * as z from "zod/mini";
import type { RepositoryReader } from "../runner/read-repository.ts";
import { permissions } from "./event.ts";

const ladder = ["none", ...permissions] as const;

/** GitHub's documentation: "Get repository permissions for a user". */
const permissionAnswer = z.object({ role_name: z.optional(z.unknown()), permission: z.optional(z.unknown()) });

/** Reads the permission of an account. Returns it, and whether it is at least another one. @throws if GitHub does not tell */
export async function readPermission(
  username: string,
  needs: (typeof permissions)[number],
  repository: RepositoryReader,
): Promise<{ has: (typeof ladder)[number]; isEnough: boolean }> {
  const path = "collaborators/{username}/permission";
  const { role_name: role, permission } = await repository.get(path, permissionAnswer, { username });
  // Forgejo's word for the owner of the repository. A custom role of GitHub can have the same name.
  const given = permission === "owner" ? "admin" : permission;
  // The role distinguishes all five; an organization's custom role falls back to the permission.
  const has = permissions.find((name) => name === role) ?? ladder.find((name) => name === given);
  if (has === undefined) throw new Error("GitHub's response names no permission");
  return { has, isEnough: ladder.indexOf(has) >= ladder.indexOf(needs) };
}
