import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** Counts what processes ask of their Postgres server. */
export class CountingProxy implements AsyncDisposable {
  readonly #url: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How often each message was sent. Several statements in one message are one; so are those of a statement with values. */
  readonly #messages = new Map<string, number>();

  private constructor(url: string) {
    this.#url = url;
    this.#server = createServer((client) => this.#serve(client, Number(new URL(url).port)));
  }

  /** @param url - of a database */
  static async start(url: string): Promise<CountingProxy> {
    const proxy = new CountingProxy(url);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  /** The URL of the database through this proxy. */
  get url(): string {
    const own = new URL(this.#url);
    own.port = String((this.#server.address() as AddressInfo).port);
    return own.href;
  }

  /** Returns how often each message was sent since the last call. */
  take(): Map<string, number> {
    const taken = new Map(this.#messages);
    this.#messages.clear();
    return taken;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(client: Socket, serverPort: number): void {
    const server = connect(serverPort, "127.0.0.1");
    for (const socket of [client, server]) this.#sockets.add(socket.on("error", () => {}));
    client.on("close", () => server.end());
    server.on("close", () => client.destroy());
    server.on("data", (data) => client.write(data));
    const reader = new MessageReader((text) => this.#messages.set(text, (this.#messages.get(text) ?? 0) + 1));
    client.on("data", (data) => {
      reader.read(data);
      server.write(data);
    });
  }
}

/** Finds statements in what a client sends. Postgres: "Message Formats". */
class MessageReader {
  readonly #onStatement: (text: string) => void;
  #rest: Buffer = Buffer.alloc(0);
  #isStarted = false;
  #prepared = "";

  constructor(onStatement: (text: string) => void) {
    this.#onStatement = onStatement;
  }

  read(data: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      // The first message has no type.
      const typeLength = this.#isStarted ? 1 : 0;
      if (this.#rest.length < typeLength + 4) return;
      const length = typeLength + this.#rest.readInt32BE(typeLength);
      if (this.#rest.length < length) return;
      const content = this.#rest.subarray(typeLength + 4, length);
      const type = this.#isStarted ? String.fromCharCode(this.#rest[0] ?? 0) : "";
      this.#rest = this.#rest.subarray(length);
      this.#isStarted = true;
      if (type === "P") this.#prepared = textFrom(content, content.indexOf(0) + 1);
      if (type === "Q") this.#onStatement(textFrom(content, 0));
      if (type === "S") this.#onStatement(this.#prepared);
    }
  }
}

const textFrom = (content: Buffer, start: number): string =>
  content.toString("utf8", start, content.indexOf(0, start)).replace(/\s+/g, " ").trim();
