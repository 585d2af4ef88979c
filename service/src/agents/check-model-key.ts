import { request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { text } from "node:stream/consumers";
import { errorMessage } from "../error-message.ts";
import { findSecret } from "../service-secrets.ts";
import type { Agent } from "./agent.ts";

const timeLimitMs = 10_000;

/** What Google's API says in place of 401. */
const invalidKey = /API_KEY_INVALID|API key not valid/;

/**
 * Checks that a model's API accepts an agent's key, with a request that costs nothing: otherwise the first turn would find out,
 * after minutes of retries.
 *
 * @param environment - of the service, with the key
 * @throws if the API rejects the key, with the variable that has it. Any other answer, or none, is only logged or ignored
 */
export async function checkModelKey(
  { modelEndpoint: endpoint }: Agent,
  environment: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<void> {
  const key = endpoint && findSecret(endpoint.keyVariable, environment)?.value;
  const { modelsPath } = endpoint?.api ?? {};
  if (endpoint === undefined || modelsPath === undefined || !key) return;
  const { url: base, api, keyVariable } = endpoint;
  const url = new URL(base.replace(/\/+$/, "") + modelsPath(new URL(base).pathname.replace(/\/+$/, "")));
  const [name, value] = endpoint.header(key);
  try {
    const { status, body } = await get(url, { ...api.headers, [name]: value });
    if (status !== 401 && !(status === 400 && invalidKey.test(body))) return;
  } catch (error) {
    log(`The key in ${keyVariable} could not be checked: ${url.origin} cannot be reached: ${errorMessage(error)}`);
    return;
  }
  throw new Error(`${url.origin} does not accept the key in ${keyVariable}: replace it, or change --agent`);
}

function get(url: URL, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  // Uses the proxy of the service's environment, if there is one.
  const agent = new HttpsAgent({ proxyEnv: process.env });
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const options = { headers, signal: AbortSignal.timeout(timeLimitMs), ...(url.protocol === "https:" && { agent }) };
  return new Promise((resolve, reject) => {
    send(url, options, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject);
    })
      .on("error", reject)
      .end();
  });
}
