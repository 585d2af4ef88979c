import { type AddressInfo, createServer } from "node:net";
import type { TestProject } from "vitest/node";
import { PostgresProcess } from "./postgres-process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** A port of loopback that says the port of the Postgres server, or why there is none. */
    postgresOfRun: number | undefined;
  }
}

/**
 * Lets the workers of a run share a Postgres server: to create one takes longer than most files of tests. It is started when the
 * first file wants it.
 */
export default async function shareServer(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresProcess> | undefined;
  const end = async () => {
    const started = await server?.catch(() => undefined);
    server = undefined;
    await started?.[Symbol.asyncDispose]();
  };
  const questions = createServer((socket) => {
    socket.on("error", () => {});
    server ??= PostgresProcess.start().catch((error: unknown) => {
      server = undefined;
      throw error;
    });
    server.then(
      ({ port }) => socket.end(String(port)),
      (error: Error) => socket.end(error.message),
    );
  });
  await new Promise<void>((resolve) => questions.listen(0, "127.0.0.1", resolve));
  project.provide("postgresOfRun", (questions.address() as AddressInfo).port);
  // The sources can have changed, and with them the tables of a store.
  project.onTestsRerun(end);
  return async () => {
    questions.close();
    await end();
  };
}
