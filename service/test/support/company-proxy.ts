import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface CompanyProxyOptions {
  /** The ports of the machine at which the hosts are that only the proxy knows, by their names. */
  hosts: Readonly<Record<string, number>>;
  /** `user:password`. Default: it asks for none. */
  credential?: string;
}

/** Starts a proxy as companies have it: it alone resolves names, refuses hosts that it does not know, and may ask for a password. */
export async function startCompanyProxy({ hosts, credential }: CompanyProxyOptions) {
  const asked: string[] = [];
  /** Returns the port of a host, or the status of the refusal. */
  const admit = ({ headers }: IncomingMessage, target: string): { port: number } | { status: number } => {
    asked.push(target);
    const expected = credential && `Basic ${Buffer.from(credential).toString("base64")}`;
    if (expected !== undefined && headers["proxy-authorization"] !== expected) return { status: 407 };
    const port = hosts[target.replace(/:\d+$/, "")];
    return port === undefined ? { status: 403 } : { port };
  };
  const server = createServer((incoming, response) => {
    const { host, pathname } = new URL(incoming.url ?? "");
    const admitted = admit(incoming, host);
    if ("status" in admitted) return void response.writeHead(admitted.status).end();
    const { method, headers } = incoming;
    incoming.pipe(request({ port: admitted.port, path: pathname, method, headers }, (answer) => answer.pipe(response)));
  });
  const sockets = new Set<Socket>();
  server.on("connect", (incoming, client: Socket) => {
    sockets.add(client.on("error", () => {}));
    const admitted = admit(incoming, incoming.url ?? "");
    if ("status" in admitted) return void client.end(`HTTP/1.1 ${admitted.status} No\r\n\r\n`);
    const target = connect(admitted.port, "127.0.0.1", () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
    sockets.add(target.on("error", () => client.destroy()));
    client.pipe(target).pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { asked, address: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}
