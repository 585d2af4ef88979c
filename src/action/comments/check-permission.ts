import * as z from "zod/mini";
import { messageOf } from "../../client/errors.ts";
import { cancelledBeforeSending, type RunResult } from "../result.ts";
import type { RepositoryReader } from "../runner/read-repository.ts";
import type { CommentMode } from "../settings.ts";
import { permissions, type ThreadEvent } from "./event.ts";

/** Returns why the author may not start anything; `undefined` if they may. */
export async function checkPermission(
  { author, triggerKind }: ThreadEvent,
  rules: Pick<CommentMode, "requiredPermission" | "allowedBots">,
  repository: RepositoryReader,
  signal: AbortSignal,
): Promise<RunResult | undefined> {
  if (author.isBot)
    return rules.allowedBots.has(author.login.toLowerCase())
      ? undefined
      : { kind: "skipped", reason: "bot", triggerKind };
  try {
    const path = "collaborators/{username}/permission";
    const place = { username: author.login };
    const { role_name: role, permission } = await repository.get(path, permissionAnswer, place);
    // The role distinguishes all five; an organization's custom role falls back to the permission.
    const has = permissions.find((name) => name === role) ?? ladder.find((name) => name === permission);
    if (has === undefined) throw new Error("GitHub's response names no permission");
    const needs = rules.requiredPermission;
    if (ladder.indexOf(has) >= ladder.indexOf(needs)) return undefined;
    return { kind: "skipped", reason: "not-permitted", triggerKind, has, needs };
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "permission", triggerKind, detail: messageOf(error) };
  }
}

const ladder = ["none", ...permissions] as const;

/** GitHub's documentation: "Get repository permissions for a user". */
const permissionAnswer = z.catch(
  z.object({ role_name: z.optional(z.unknown()), permission: z.optional(z.unknown()) }),
  {
    role_name: undefined,
    permission: undefined,
  },
);
