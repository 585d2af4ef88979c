import { once } from "node:events";
import { connect } from "node:net";
import { startAgentService } from "./agent-service.ts";
import type { Measurement } from "./measurement.ts";

const idleConnections = 1100;

/** Measures whether the service can be reached and can run an agent while more connections are opened than it has descriptors. */
export async function measure(): Promise<Measurement[]> {
  await using service = await startAgentService("date +%N > time.md", 1024);
  const port = Number(new URL(service.url).port);
  const sockets = await Promise.all(
    Array.from({ length: idleConnections }, async () => {
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      await once(socket, "connect");
      return socket;
    }),
  );
  const start = performance.now();
  const { status, job } = await service.send("job", "Write the time");
  const answeredMs = Math.round(performance.now() - start);
  const ended = await service.wait(job.id);
  for (const socket of sockets) socket.destroy();
  return [
    {
      what: `a create after ${idleConnections} idle connections, with at most 1024 descriptors`,
      before: "unreachable",
      now: `answered ${status} after ${answeredMs} ms; the job ${ended.status}`,
    },
  ];
}
