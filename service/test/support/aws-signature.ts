import { createHash, createHmac } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** A request as Amazon receives it. */
interface SignedRequest {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

/**
 * Returns what is wrong with the signature of a request; `undefined` if Amazon would accept it. Amazon's documentation: "Create a
 * signed AWS API request".
 */
export function findSignatureProblem(
  { method, url, headers, body }: SignedRequest,
  credentials: { accessKeyId: string; secretAccessKey: string; sessionToken: string; region: string },
): string | undefined {
  const pattern = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([\da-f]{64})$/;
  const [, id, scope = "", signed = "", signature] = pattern.exec(headers.authorization ?? "") ?? [];
  const time = String(headers["x-amz-date"]);
  const [day = "", region = "", service = ""] = scope.split("/");
  if (id !== credentials.accessKeyId) return "The security token included in the request is invalid.";
  if (headers["x-amz-security-token"] !== credentials.sessionToken) return "The session token is wrong.";
  if (scope !== `${time.slice(0, 8)}/${credentials.region}/bedrock/aws4_request`) return `The scope is ${scope}.`;
  for (const name of ["host", "x-amz-date", "x-amz-security-token"])
    if (!signed.split(";").includes(name)) return `${name} is not signed.`;
  const { pathname, searchParams } = new URL(url, "http://localhost");
  searchParams.sort();
  const canonical = [
    method,
    // Twice, except for S3.
    pathname.split("/").map(encodeURIComponent).join("/"),
    searchParams.toString(),
    ...signed.split(";").map((name) => `${name}:${String(headers[name]).trim()}`),
    "",
    signed,
    sha256(body),
  ].join("\n");
  const key = ["aws4_request", service, region, day].reduceRight(
    (sum: string | Buffer, part) => hmac(sum, part),
    `AWS4${credentials.secretAccessKey}`,
  );
  const expected = hmac(key, ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n")).toString("hex");
  return signature === expected ? undefined : "The request signature we calculated does not match.";
}
