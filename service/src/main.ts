import { existsSync } from "node:fs";
import { errorMessage } from "./error-message.ts";
import type { JobsCommand } from "./jobs/run-jobs-command.ts";
import { createLinePrinter } from "./log/line-printer.ts";
import { type CommandOf, parseCommandLine } from "./options/command-line.ts";
import { folderOfStore } from "./service-folder.ts";
import { openPostgres } from "./start/open-postgres.ts";

// Each command loads what it needs: loading the service takes longer than most of them.
const command = parseCommandLine(process.argv.slice(2), process.env);
if (command.kind === "help") process.stdout.write(command.text);
else if (command.kind === "keys") await changeKeys(command);
else if (command.kind === "copy") await copyStore(command);
else if (command.kind === "jobs") await controlJobs(command);
else if (command.kind === "migrate") await migrate(command);
else if (command.kind === "serve") await (await import("./start/serve.ts")).serve(command.options);
else {
  // Without the options, among which the error would not be found.
  process.stderr.write(`${command.error}\nnpm run service -- --help lists all options.\n`);
  process.exitCode = 2;
}

async function changeKeys({ command }: CommandOf<"keys">): Promise<void> {
  try {
    const { runKeyCommand } = await import("./access/run-key-command.ts");
    const { text, note } = await runKeyCommand(command, Date.now());
    process.stderr.write(note);
    process.stdout.write(text);
  } catch (error) {
    process.stderr.write(`${errorMessage(error)}\n`);
    process.exitCode = 1;
  }
}

async function controlJobs({ command, store: place }: CommandOf<"jobs">): Promise<void> {
  const report = (line: string): void => void process.stderr.write(`${line}\n`);
  try {
    if ("file" in place && !existsSync(place.file)) throw new Error(`${place.file} does not exist.`);
    if (command.command === "patch") return void process.stdout.write(await patchOf(command.job, place, report));
    const print = createLinePrinter();
    for (const line of await linesOf(command, place, report)) print(line);
  } catch (error) {
    report(errorMessage(error));
    process.exitCode = 1;
  }
}

/** Returns what is kept of a job: beside a file, its service has a clone of the job's repository. */
async function patchOf(
  job: string,
  place: CommandOf<"jobs">["store"],
  report: (line: string) => void,
): Promise<Uint8Array> {
  const { readKeptPatch } = await import("./pages/kept-patch.ts");
  const { openJobClone } = await import("./start/job-clone.ts");
  const { openStoreToRead } = await import("./store/sqlite/open-store.ts");
  await using store = "file" in place ? openStoreToRead(place.file, report) : await openPostgres(place, report);
  const clone = "file" in place ? await openJobClone(job, store, folderOfStore(place.file)) : undefined;
  const patch = await readKeptPatch(job, store, clone);
  if (patch === undefined) throw new Error(`nothing is kept of ${job} that this command can read`);
  return patch;
}

/** Reads a file, or changes it through the service that runs on it, so that no command has to wait until it is stopped. */
async function linesOf(
  command: Exclude<JobsCommand, { command: "patch" }>,
  place: CommandOf<"jobs">["store"],
  report: (line: string) => void,
): Promise<string[]> {
  const { changeJobs, readJobs } = await import("./jobs/run-jobs-command.ts");
  const { openSqliteStore, openStoreToRead } = await import("./store/sqlite/open-store.ts");
  const { LogFiles } = await import("./store/log-files.ts");
  if (command.command === "list" || command.command === "show") {
    const logs = "file" in place ? new LogFiles(folderOfStore(place.file)) : undefined;
    await using store = "file" in place ? openStoreToRead(place.file, report) : await openPostgres(place, report);
    return await readJobs(command, store, logs);
  }
  const { askForChange } = await import("./jobs/jobs-socket.ts");
  const done = "file" in place ? await askForChange(place.file, command) : undefined;
  if (done !== undefined) return done;
  await using store = "file" in place ? openSqliteStore(place.file, report) : await openPostgres(place, report);
  return await changeJobs(command, store);
}

async function copyStore({ store, target }: CommandOf<"copy">): Promise<void> {
  process.umask(0o077);
  const print = createLinePrinter();
  try {
    if ("file" in target) {
      const { backUpStore } = await import("./store/sqlite/backup.ts");
      await backUpStore(store, target.file);
      print(`Copied ${store} to ${target.file}`);
    } else {
      const { importStore } = await import("./store/postgres/import-store.ts");
      const { markHome } = await import("./store/shared-homes.ts");
      const { jobs, turns, pullRequests, unpushed } = await importStore(store, { ...target, log: print }, markHome);
      print(`Copied ${jobs} jobs, ${turns} turns and ${pullRequests} pull requests from ${store} to Postgres`);
      if (unpushed > 0)
        print(
          `${unpushed} of the jobs have commits that are not pushed, which stay in ${folderOfStore(store)}: a worker with that STATE_DIRECTORY publishes them, and others do that work again.`,
        );
    }
  } catch (error) {
    process.stderr.write(`The store was not ${"file" in target ? "backed up" : "exported"}: ${errorMessage(error)}\n`);
    process.exitCode = 1;
  }
}

async function migrate({ postgres: { url, directUrl, schema } }: CommandOf<"migrate">): Promise<void> {
  const print = createLinePrinter();
  try {
    const { openSchema } = await import("./store/postgres/migrate.ts");
    const { namesOf } = await import("./store/postgres/names.ts");
    const names = namesOf(schema);
    const isNew = await openSchema({ url: directUrl ?? url, names });
    print(`The schema ${names.tables} ${isNew ? "has its tables now" : "had its tables already"}.`);
  } catch (error) {
    process.stderr.write(`The schema was not migrated: ${errorMessage(error)}\n`);
    process.exitCode = 1;
  }
}
