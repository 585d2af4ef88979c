import * as z from "zod/mini";
import { messageOf } from "../client/errors.ts";
import { isThreadEvent } from "./comments/event.ts";
import { askService } from "./memory/ask-service.ts";
import { cancelledBeforeSending, type RunResult } from "./result.ts";
import { connectRepository, type Run } from "./run.ts";
import { readEvent } from "./runner/environment.ts";
import { parse } from "./runner/read-repository.ts";

const repository = z.object({ id: z.int() });
/** The head's repository is `null` if it was deleted. */
const pullRequest = z.object({
  head: z.object({ ref: z.string(), repo: z.nullable(repository) }),
  base: z.object({ repo: repository }),
});
const payload = z.object({
  pull_request: z.optional(pullRequest),
  issue: z.optional(z.object({ number: z.int(), pull_request: z.optional(z.unknown()) })),
});

/** Finds the branch for the input `base`, which the service must announce; or why nothing is sent. Never rejects. */
export async function findBase(run: Run): Promise<{ base: string | undefined } | RunResult> {
  const { base } = run.settings;
  if (base === "") return { base: undefined };
  const found = base === "pull-request" ? await headOfEvent(run) : { base };
  if ("kind" in found || found.base === undefined) return found;
  // A dry run sends nothing to the service, so it trusts that it takes one.
  if (run.settings.dryRun) return found;
  await askService(run);
  if (run.ports.signal.aborted) return cancelledBeforeSending;
  return run.state.features?.has("base") ? found : { kind: "blocked", cause: "no-base" };
}

async function headOfEvent(run: Run): Promise<{ base: string | undefined } | RunResult> {
  const { environment, signal } = run.ports;
  try {
    const { GITHUB_EVENT_NAME: name = "" } = environment;
    if (!isThreadEvent(name)) return { base: undefined };
    const { issue, pull_request: named } = parse(payload, readEvent(environment), `the payload of ${name}`);
    if (named === undefined && issue?.pull_request === undefined) return { base: undefined };
    const read = async (number = 0) =>
      (await connectRepository(run)).get("pulls/{pull_number}", pullRequest, { pull_number: number });
    const { head, base } = named ?? (await read(issue?.number));
    const isOwn = head.repo?.id === base.repo.id;
    return isOwn ? { base: head.ref } : { kind: "skipped", reason: "fork", triggerKind: "pull request", isBase: true };
  } catch (error) {
    if (signal.aborted) return cancelledBeforeSending;
    return { kind: "blocked", cause: "base", detail: messageOf(error) };
  }
}
