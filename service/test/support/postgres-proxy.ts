import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** How the connection is lost on which a statement is sent. */
export interface Failure {
  /** Text that the statement contains. */
  on: string;
  how:
    | /** Before the server gets the statement. It is told that the connection has ended. */ "lose request"
    | /** Before the server gets the statement. It is not told. */ "lose request silently"
    | /** While the server runs the statement. */ "lose connection"
    | /** When the server has run the statement. */ "lose answer";
}

/** A network between a store and its Postgres server, which can fail. */
export class PostgresProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** What will fail, in this order. */
  readonly failures: Failure[] = [];
  /** Whether the next failure loses all connections, and no more can be made. */
  isCutOff = false;
  #isCut = false;
  /** Which connections are lost without a sign: those that were made before this one. */
  #silentBefore = 0;
  #connections = 0;

  private constructor(serverPort: number) {
    this.#server = createServer((client) => this.#serve(client, serverPort));
  }

  static async start(serverPort: number): Promise<PostgresProxy> {
    const proxy = new PostgresProxy(serverPort);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Loses all connections, and lets none be made. */
  cutOff(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Loses all connections, of which neither side is told. Others can be made. */
  goSilent(): void {
    this.#silentBefore = this.#connections;
  }

  /** Lets connections be made again. */
  restore(): void {
    this.isCutOff = false;
    this.#isCut = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(client: Socket, serverPort: number): void {
    if (this.#isCut) {
      client.destroy();
      return;
    }
    const number = this.#connections++;
    const isSilent = (): boolean => number < this.#silentBefore;
    const server = connect(serverPort, "127.0.0.1");
    for (const socket of [client, server]) this.#sockets.add(socket.on("error", () => {}));
    client.on("close", () => {
      this.#sockets.delete(client);
      if (!isSilent()) server.end();
    });
    server.on("close", () => {
      this.#sockets.delete(server);
      if (!isSilent()) client.destroy();
    });
    let isLosingAnswer = false;
    server.on("data", (data) => {
      if (isSilent()) return;
      if (isLosingAnswer) this.#lose(client);
      else client.write(data);
    });
    client.on("data", (data) => {
      if (isSilent()) return;
      const [next] = this.failures;
      const how = next !== undefined && data.includes(next.on) ? next.how : undefined;
      if (!how?.startsWith("lose request")) server.write(data);
      if (how === undefined) return;
      this.failures.shift();
      if (how === "lose request silently") client.removeAllListeners("close");
      if (how === "lose answer") isLosingAnswer = true;
      else this.#lose(client);
    });
  }

  #lose(client: Socket): void {
    this.#isCut = this.isCutOff;
    if (this.#isCut) for (const socket of this.#sockets) socket.destroy();
    client.destroy();
  }
}
