import { type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

const errors: Readonly<Record<string, { status: number; error: string }>> = {
  HPE_HEADER_OVERFLOW: { status: 431, error: "Request header fields too large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: "The request took too long to arrive" },
};

/** Answers unreadable requests with JSON: if they are malformed, have too many headers, or take too long. */
export function answerClientErrors(server: Server): void {
  const responses = new WeakMap<Duplex, ServerResponse>();
  server.on("request", ({ socket }, response) => responses.set(socket, response));
  server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) => {
    const response = responses.get(socket);
    const isAnswering = response?.headersSent && !response.writableFinished;
    if (!socket.writable || isAnswering) return void socket.destroy();
    const { status, error } = errors[code ?? ""] ?? { status: 400, error: "Malformed request" };
    const body = JSON.stringify({ error });
    const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close`;
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n\r\n${body}`, () => socket.destroy());
  });
}
