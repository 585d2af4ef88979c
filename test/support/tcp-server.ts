import { type AddressInfo, createServer, type Socket } from "node:net";

/** A server below HTTP: it does with each connection what a test tells it, whatever HTTP would say to that. */
export interface TcpServer extends AsyncDisposable {
  port: number;
  /** What each connection has sent so far, in the order they came. */
  received: string[];
}

/** @param serve - called when a connection has sent something, with all it has sent so far */
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

/** Whether a whole request has come, its body included. */
export function isWhole(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const length = Number(/content-length: (\d+)/i.exec(received.slice(0, end))?.[1] ?? 0);
  return received.length - end - 4 >= length;
}

/** A whole answer of HTTP/1.1. */
export function httpAnswer(status: number, body: string, headers: Record<string, string | number> = {}): string {
  const all = { "content-length": Buffer.byteLength(body), ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} Status\r\n${lines.join("")}\r\n${body}`;
}
