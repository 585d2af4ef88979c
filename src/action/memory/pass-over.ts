import { hasEnded } from "../../client/step-lookup.ts";
import { connectService, type Run } from "../run.ts";
import { askService } from "./ask-service.ts";
import type { Evidence } from "./decide.ts";
import type { Memory } from "./memory.ts";
import { untilAborted } from "./wait.ts";

/** How long the service may take to note that a turn is to be stopped, in milliseconds. */
const maxStopMs = 10_000;

/**
 * With `on-rerun: new`, replaces the newest turn that the service knows. Every attempt then uses the same key until the request arrives.
 * The range is that of the first attempt, which the session has been told of since.
 */
export async function passOver(memory: Memory, run: Run): Promise<Partial<Evidence>> {
  const { settings, ports, log } = run;
  const words = settings.changes && memory.cache?.read();
  memory.firstBase = words && (await untilAborted(words, ports.signal))?.base;
  const answer = await askService(run);
  const [newest] = answer.kind === "announced" ? answer.announcement.turns : [];
  // The step's agent would be run, and paid, for both.
  if (newest && settings.agent && !settings.dryRun && !hasEnded(newest.status))
    await connectService(run)
      .stopTurn(newest.jobId, newest.turnId, { deadline: ports.clock.now() + maxStopMs, signal: ports.signal })
      .catch((error: unknown) => log.debugError(error));
  return newest ? { service: { ...newest, over: "ignored", hasOtherPrompt: false } } : {};
}
