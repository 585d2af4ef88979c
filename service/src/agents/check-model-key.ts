import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { errorMessage } from "../error-message.ts";
import { findSecret } from "../service-secrets.ts";
import { type Agent, credentialHeaders } from "./agent.ts";
import { agentFor, machineProxy } from "./network/machine-proxy.ts";
import { readableError } from "./readable-error.ts";

const timeLimitMs = 10_000;

/** What other APIs say in place of 401: Google's, and Amazon's. */
const invalidKey =
  /API_KEY_INVALID|API key not valid|security token included in the request|request signature we calculated|Authentication failed|Invalid API Key/i;
/** What Amazon says in place of 404. */
const invalidModel = /model identifier is invalid/i;

/** Codes of errors that stay until somebody changes an address or a certificate. */
const ofAddress = /^(?:ENOTFOUND|ECONNREFUSED|EPROTO)$/;
/** How the machine's proxy refuses a host, or asks for a credential. */
const ofProxy = /^Failed to establish tunnel .* HTTP\/1\.\d 4\d\d/;
const ofCertificate = /CERT|UNABLE_TO_|ERR_(?:TLS|SSL)_/;

/** Thrown if a model cannot be used for another reason than its key. */
export class UnusableModel extends Error {}

/** A full name of a model. Others are names that only an agent knows, such as `sonnet`. */
const fullName = /^[\w.:@/-]*[.:@-][\w.:@/-]*$/;

/**
 * Checks that a model's API accepts an agent's key, with a request that costs nothing: otherwise the first turn would find out,
 * after minutes of retries.
 *
 * @param environment - of the service, with the key
 * @throws UnusableModel if the API cannot be reached under this name or with this certificate, or does not have the model
 * @throws if the API rejects the key, with the variable that has it. Any other answer, or none, is only logged or ignored
 */
export async function checkModelKey(
  { kind, model, modelEndpoint: endpoint }: Agent,
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<void> {
  if (endpoint === undefined) return;
  const { api, keyVariable } = endpoint;
  const secret = (name: string): string => findSecret(name, environment)?.value ?? environment[name]?.trim() ?? "";
  const base = endpoint.url.replace(/\/+$/, "") + (endpoint.folder ?? "");
  const named = model !== kind && fullName.test(model) ? model : undefined;
  const path = api.emptyRequest?.(named) ?? api.modelsPath?.(new URL(base).pathname.replace(/\/+$/, ""));
  if (path === undefined || secret(keyVariable) === "") return;
  const url = new URL(base + path);
  const [method, body] = api.emptyRequest === undefined ? ["GET", ""] : ["POST", "{}"];
  const credential = await credentialHeaders(endpoint, { method, url, body }, secret);
  const headers = { ...api.headers, ...(body && { "content-type": "application/json" }), ...credential };
  const proxy = proxyFor(url, environment);
  let answer: { status: number; body: string };
  try {
    answer = await send(url, method, headers, body, environment);
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    const through = proxy === undefined ? "" : `, through the machine's proxy ${proxy.host}`;
    const problem = `${url.origin} cannot be reached${through}: ${errorMessage(error)}`;
    if (ofCertificate.test(code))
      throw new UnusableModel(`${problem}. Name the file of its authority in NODE_EXTRA_CA_CERTS.`);
    // The providers' own addresses are right: then, it is the network, which may come back.
    const isGiven = endpoint.environment !== undefined || environment[endpoint.baseUrlVariable]?.trim();
    if (ofProxy.test(errorMessage(error))) throw new UnusableModel(`${problem}.`);
    const variable = environment[endpoint.baseUrlVariable]?.trim()
      ? `${endpoint.baseUrlVariable} has`
      : "its variables have";
    if (isGiven && ofAddress.test(code)) throw new UnusableModel(`${problem}. Check the address that ${variable}.`);
    log(`The key in ${keyVariable} could not be checked: ${problem}`);
    return;
  }
  const { status } = answer;
  if (status === 401 || (status >= 400 && status < 404 && invalidKey.test(answer.body)))
    throw new Error(`${url.origin} does not accept the key in ${keyVariable}: replace it, or change --agent`);
  const isMissing = status === 403 || status === 404 || (status === 400 && invalidModel.test(answer.body));
  if (api.emptyRequest !== undefined && named !== undefined && isMissing)
    throw new UnusableModel(
      `${url.origin} does not let the key in ${keyVariable} use the model ${named}: ${readableError(answer.body).slice(0, 300)}`,
    );
}

function proxyFor(url: URL, environment: NodeJS.ProcessEnv): URL | undefined {
  try {
    return machineProxy(url, environment);
  } catch (error) {
    throw new UnusableModel(`${url.origin} cannot be reached: ${errorMessage(error)}.`);
  }
}

function send(
  url: URL,
  method: string,
  headers: Record<string, string>,
  body: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ status: number; body: string }> {
  const agent = agentFor(url, environment);
  const request = url.protocol === "https:" ? httpsRequest : httpRequest;
  const options = { method, headers, signal: AbortSignal.timeout(timeLimitMs), agent };
  return new Promise((resolve, reject) => {
    request(url, options, (response) => {
      text(response).then((answer) => resolve({ status: response.statusCode ?? 0, body: answer }), reject);
    })
      .on("error", reject)
      .end(body);
  });
}
