import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { logsFolderOf } from "./jobs/turn.ts";
import { help, parseOptions, type ServiceOptions } from "./options.ts";
import { removeDirectory } from "./remove-directory.ts";
import { startWorkingService } from "./service.ts";

const options = parseOptions(process.argv.slice(2), process.env);
if (options === "help") process.stdout.write(help);
else if ("problem" in options) {
  process.stderr.write(`${options.problem}\n\n${help}`);
  process.exitCode = 2;
} else await serve(options);

async function serve({ apiKey = `mint_${randomBytes(24).toString("hex")}`, store, ...rest }: ServiceOptions) {
  const folder = store === undefined ? mkdtempSync(join(tmpdir(), "agent-job-service-")) : `${resolve(store)}.files`;
  const log = (line: string): void => console.log(`${new Date().toISOString()} ${line}`);
  const service = await startWorkingService({ ...rest, apiKey, folder, store, log }).catch((error: unknown) => {
    process.stderr.write(`The service cannot start: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  });
  console.log(`Listening on ${service.url}`);
  console.log(`Projects     ${rest.projects.join(", ")}`);
  console.log(`API key      ${process.env.AGENT_SERVICE_KEY ? "from AGENT_SERVICE_KEY" : apiKey}`);
  console.log(`Logs of jobs ${logsFolderOf(folder)}`);
  let isStopping = false;
  const stop = async (): Promise<void> => {
    if (isStopping) return;
    isStopping = true;
    log("Stopping: agents are ended, and their work is resumed by the next service with the same store");
    await service[Symbol.asyncDispose]();
    if (store === undefined) await removeDirectory(folder);
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop());
}
