import { readFileSync } from "node:fs";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { commentEnvironment, commentInputs } from "../support/payload.ts";
import { inputsFor, startScriptedService } from "../support/scripted-service.ts";
import { step, temporaryFolder } from "../support/step.ts";

const certificates = join(import.meta.dirname, "../support/certificates");

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("GitHub is asked through the proxy for https, with the certificates of NODE_EXTRA_CA_CERTS", async () => {
  await using service = await startScriptedService();
  const asked: string[] = [];
  const tls = {
    key: readFileSync(join(certificates, "key.pem")),
    cert: readFileSync(join(certificates, "certificate.pem")),
  };
  const github = createHttpsServer(tls, (request, response) => {
    asked.push(`${request.method} ${request.headers.host}${request.url}`);
    response.writeHead(404, { "content-type": "application/json", connection: "close" }).end('{"message":"Not Found"}');
  });
  const port = await listen(github);
  const tunnels: string[] = [];
  const proxy = createServer((client) => {
    client
      .on("error", () => {})
      .once("data", (data) => {
        tunnels.push(data.toString().split("\r\n")[0] ?? "");
        const server = connect(port, "127.0.0.1", () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
        server
          .on("error", () => {})
          .pipe(client)
          .pipe(server);
      });
  });
  const folder = temporaryFolder();
  // A host that only the proxy reaches, with the name in the certificate.
  const apiUrl = "https://github.example.com/api/v3";
  const { annotations } = await step(inputsFor(service, commentInputs), {
    folder,
    environment: {
      ...commentEnvironment(folder, apiUrl, { id: 77, text: "/agent fix it", author: { login: "writer" } }),
      https_proxy: `127.0.0.1:${await listen(proxy)}`,
      NODE_EXTRA_CA_CERTS: join(certificates, "certificate.pem"),
    },
  });
  expect(annotations).toEqual([expect.stringMatching(/^error Cannot check the permission: .*Not Found/)]);
  expect(tunnels).toEqual(["CONNECT github.example.com:443 HTTP/1.1"]);
  expect(asked).toEqual(["GET github.example.com/api/v3/repos/acme/docs/collaborators/writer/permission"]);
});
