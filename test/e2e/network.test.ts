import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { inputsFor } from "../support/scripted-service.ts";
import { step } from "../support/step.ts";
import { httpResponse, isCompleteRequest, tcpServer } from "../support/tcp-server.ts";

const completed = JSON.stringify({ id: "job_1", status: "completed", prLink: "https://github.com/acme/docs/pull/7" });
const headersOnly = "HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n";

/** After a doubt, the step asks what was sent under it, which this service does not know. */
const isQuestion = (received: string): boolean => /^GET \S+\/job\?step=/.test(received);
const methodsOf = (received: readonly string[]) => received.map((request) => request.split(" ")[0]);

describe("a create that may have been accepted is not retried", () => {
  test("closed within the body, after the id", async () => {
    await using server = await tcpServer(
      (socket, received) =>
        isCompleteRequest(received) &&
        (isQuestion(received) ? socket.end(httpResponse(404, "{}")) : socket.end(`${headersOnly}{"id":"job_1","sta`)),
    );
    const { exitCode, outputs, annotations } = await step(inputsFor({ url: `http://127.0.0.1:${server.port}` }));
    expect(exitCode).toBe(1);
    expect(outputs).toMatchObject({ outcome: "error", "job-id": "job_1" });
    expect(annotations).toEqual([
      expect.stringMatching(/^error Job may have been started: .*contains the id of job job_1/s),
    ]);
    expect(methodsOf(server.received)).toEqual(["POST", "GET"]);
  });
});

describe("certificates", () => {
  const folder = join(import.meta.dirname, "../support/certificates");
  const certificate = join(folder, "certificate.pem");

  async function tlsService() {
    const requests: string[] = [];
    const options = { key: readFileSync(join(folder, "key.pem")), cert: readFileSync(certificate) };
    const server = createServer(options, (request, response) => {
      requests.push(`${request.method}`);
      response.writeHead(200).end(completed);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      url: `https://localhost:${(server.address() as AddressInfo).port}`,
      requests,
      [Symbol.asyncDispose]: async () => {
        server.closeAllConnections();
        server.close();
      },
    };
  }

  test("fails on an untrusted certificate before sending anything, and says how to trust it", async () => {
    await using service = await tlsService();
    const { exitCode, outputs, annotations } = await step(inputsFor(service));
    expect(exitCode).toBe(1);
    expect(outputs.outcome).toBe("error");
    expect(annotations).toEqual([expect.stringMatching(/is not trusted.*No job was started.*NODE_EXTRA_CA_CERTS/s)]);
    expect(service.requests).toEqual([]);
  });

  test("trusts a private certificate authority in NODE_EXTRA_CA_CERTS", async () => {
    await using service = await tlsService();
    const { exitCode } = await step(inputsFor(service), { environment: { NODE_EXTRA_CA_CERTS: certificate } });
    expect(exitCode).toBe(0);
    expect(service.requests).toEqual(["POST"]);
  });

  test("warns if certificates are not verified", async () => {
    await using service = await tlsService();
    const { annotations } = await step(inputsFor(service), { environment: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } });
    expect(annotations).toEqual([expect.stringMatching(/^warning TLS certificates are not verified: /)]);
  });
});

test("escapes commands, markup and mentions in text from the service", async () => {
  const hostile =
    "##[error]x\r::set-output name=outcome::pr-created\u0085::error::x <img src=x> @acme/team [x](http://x)";
  const hostileId = "::error::x ##[error]x <img src=x> @acme/team";
  const record = JSON.stringify({
    id: hostileId,
    status: "completed",
    model: hostile,
    source: { repository: hostile },
  });
  await using server = await tcpServer(
    (socket, received) => isCompleteRequest(received) && socket.end(httpResponse(201, record)),
  );
  const { exitCode, outputs, lines, annotations, summary, log } = await step(
    inputsFor({ url: `http://127.0.0.1:${server.port}` }),
  );
  expect(exitCode).toBe(0);
  expect(outputs).toMatchObject({ "job-id": hostileId, outcome: "no-changes" });
  const commands = lines.flatMap((line) => (line.kind === "command" ? [line.name] : []));
  expect(commands).toEqual(["add-mask", "debug", "notice"]);
  expect(log).toContain("::stop-commands::");
  expect(annotations[0]).toMatch(/^notice No pull request: /);
  expect(summary).not.toContain("<img");
  expect(summary.replaceAll(/<code>.*?<\/code>/g, "")).not.toContain("@acme");
});
