import { type AddressInfo, createServer, type Socket } from "node:net";

/** A TCP server that can break HTTP: a test decides what happens to each connection. */
export interface TcpServer extends AsyncDisposable {
  port: number;
  /** What each connection has sent so far, in the order of the connections. */
  received: string[];
}

/** @param serve - called whenever data arrives on a connection, with everything that it has sent so far */
export async function tcpServer(
  serve: (socket: Socket, received: string, connection: number) => void,
): Promise<TcpServer> {
  const sockets = new Set<Socket>();
  const received: string[] = [];
  const server = createServer((socket) => {
    const connection = received.push("") - 1;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (data) => {
      received[connection] += data.toString("latin1");
      serve(socket, received[connection] ?? "", connection);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    received,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns whether a complete request has arrived, including its body. */
export function isCompleteRequest(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = Number(/content-length: (\d+)/i.exec(received.slice(0, end))?.[1] ?? 0);
  return received.length - end - 4 >= length;
}

/** Formats a complete HTTP/1.1 response. */
export function httpResponse(status: number, body: string, headers: Record<string, string | number> = {}): string {
  const all = { "content-length": Buffer.byteLength(body), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n${body}`;
}
