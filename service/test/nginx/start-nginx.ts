import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../test/support/step.ts";
import { waitUntil } from "../../../test/support/wait-until.ts";
import { freePort } from "../support/free-port.ts";

/** The host of `deploy/nginx.conf`. */
export const host = "agents.example.com";

/**
 * Starts nginx on loopback with `deploy/nginx.conf`, except for its port, the certificate and the port of the service. It is
 * stopped when the test ends.
 *
 * @param serviceUrl - where the service listens
 * @param change - changes the configuration. Default: not at all
 * @returns the port of nginx, and its certificate
 * @throws if nginx cannot be started
 */
export async function startNginx(serviceUrl: string, change = (configuration: string) => configuration) {
  const folder = temporaryFolder();
  const [port, certificate, key] = [await freePort(), join(folder, "certificate.pem"), join(folder, "key.pem")];
  const subject = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  const form = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  execFileSync("openssl", ["req", ...form, ...subject, "-keyout", key, "-out", certificate], { stdio: "ignore" });
  const deployed = readFileSync(join(import.meta.dirname, "../../deploy/nginx.conf"), "utf8");
  const server = change(deployed)
    .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    .replace(/ssl_certificate .*/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*/, `ssl_certificate_key ${key};`)
    .replace("http://127.0.0.1:4100", serviceUrl);
  // Processes of root would give up their rights, and could not read the folder then.
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder};`);
  const configuration = join(folder, "nginx.conf");
  writeFileSync(
    configuration,
    `${user}\ndaemon off;\npid ${folder}/pid;\nevents {}\nhttp {\naccess_log off;\n${folders.join("\n")}\n${server}\n}\n`,
  );
  const nginx = spawn("nginx", ["-e", "stderr", "-c", configuration], { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(nginx, "exit");
  const failed = ended.then(([code]) => {
    throw new Error(`nginx ended with exit code ${code}`);
  });
  failed.catch(() => {});
  onTestFinished(async () => {
    nginx.kill("SIGTERM");
    await ended.catch(() => {});
  });
  await Promise.race([waitUntil(() => isListening(port)), failed]);
  return { port, certificate: readFileSync(certificate) };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isOpen = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
