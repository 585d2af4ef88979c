import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from "jose";
import * as z from "zod/mini";
import { errorMessage } from "../error-message.ts";
import { type Access, unauthorized } from "../http/authentication.ts";
import { HttpException } from "../http/http-exception.ts";
import { OutageLog } from "../log/outage-log.ts";
import type { Machine } from "../machine.ts";
import { byIds, quote, rulesFor, type TrustRule, type WorkflowClaims } from "./trust-rule.ts";

export interface WorkflowTokensOptions {
  /** The URL of the issuer, see `parseIssuer`. Its keys are read from `/.well-known/jwks` there. */
  issuer: string;
  /** Returns the audience that tokens must be for: the origin of this service. */
  audience: () => string;
  rules: readonly TrustRule[];
  /** The projects for rules that name none. */
  projects: readonly string[];
  machine: Pick<Machine, "wallTime">;
  log: (line: string) => void;
  /** How long to wait for the keys of the issuer, in milliseconds. Default: 5 seconds. */
  timeoutMs?: number;
  /** How long after reading keys an unknown key does not cause another read, in milliseconds. Default: 10 seconds. */
  cooldownMs?: number;
}

/** GitHub's tokens have about 2,000 characters. */
const maxLength = 8192;
/** How much the issuer's clock may differ. */
const toleranceSeconds = 60;
/** GitHub's tokens are valid for a few minutes. */
const maxAgeSeconds = 3600;
const retryAfterSeconds = 10;

/** The claims that GitHub sets itself. Not `sub`: whoever administrates a repository decides what it says. */
const claims = z.object({
  repository: z.string(),
  repository_id: z.optional(z.string()),
  repository_owner_id: z.optional(z.string()),
  ref: z.string(),
  event_name: z.string(),
  environment: z.optional(z.string()),
});
const required = ["iss", "aud", "exp", "iat", "nbf", "repository", "ref", "event_name"];

/** Verifies the OpenID Connect tokens that GitHub issues to the workflows of trusted repositories. */
export class WorkflowTokens {
  readonly #options: WorkflowTokensOptions;
  readonly #findKey: JWTVerifyGetKey;
  readonly #outage: OutageLog;
  /** The rules for which ids were advised. */
  readonly #advised = new Set<string>();

  constructor(options: WorkflowTokensOptions) {
    const { issuer, log, timeoutMs = 5000, cooldownMs = 10_000 } = options;
    this.#options = options;
    this.#findKey = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks`), {
      timeoutDuration: timeoutMs,
      cooldownDuration: cooldownMs,
      [customFetch]: fetchBounded,
    });
    this.#outage = new OutageLog(log);
  }

  /**
   * Returns the access that a token gives. Errors say what is wrong with a token, which is no secret to its sender.
   *
   * @throws HttpException 401 if it is not valid or not trusted, 503 if the keys of the issuer cannot be read
   */
  async verify(token: string): Promise<Access> {
    if (token.length > maxLength) throw unauthorized(`The token has more than ${maxLength} characters`);
    this.#checkIssuer(token);
    const { payload } = await jwtVerify(token, (header, jws) => this.#keyFor(header, jws), {
      algorithms: ["RS256"],
      issuer: this.#options.issuer,
      audience: this.#options.audience(),
      requiredClaims: required,
      clockTolerance: toleranceSeconds,
      maxTokenAge: maxAgeSeconds,
      currentDate: new Date(this.#options.machine.wallTime()),
    }).catch((error: unknown) => {
      if (error instanceof errors.JOSEError) throw unauthorized(this.#problem(error));
      if (error instanceof HttpException) throw error;
      // Such as a key of the issuer that is too short.
      throw unauthorized(`The token cannot be verified with the key of its issuer: ${errorMessage(error)}`);
    });
    const { data } = z.safeParse(claims, payload);
    if (data === undefined) throw unauthorized("The token is not one of a workflow");
    const trusted = rulesFor(this.#options.rules, data);
    if ("reason" in trusted) throw unauthorized(trusted.reason);
    this.#adviseIds(trusted, data);
    const { repository, repository_id: id } = data;
    // Another repository can take the name over, and would be told what this one has sent.
    const caller = id === undefined ? {} : { caller: `repo ${id}` };
    return { name: `repo ${repository}`, ...caller, projects: this.#projectsOf(trusted) };
  }

  /** Says once how to trust a repository that is trusted by its name alone: whoever takes the name over gets other ids. */
  #adviseIds(rules: readonly TrustRule[], data: WorkflowClaims): void {
    const named = rules.find(({ repositoryId, ownerId }) => repositoryId === undefined && ownerId === undefined);
    const ids = byIds(data);
    if (named === undefined || ids === undefined || this.#advised.has(named.text)) return;
    this.#advised.add(named.text);
    this.#options.log(
      `--trust ${named.text} trusts whoever has this name. To keep out another repository that takes it over, write ${ids} in place of ${named.repository}`,
    );
  }

  /** Rejects the tokens of other issuers before anything is requested for them, and with a helpful reason. */
  #checkIssuer(token: string): void {
    const { issuer } = this.#options;
    const iss = issuerOf(token);
    if (iss !== issuer) throw unauthorized(`The token was issued by ${quote(String(iss))}, not by ${quote(issuer)}`);
  }

  #keyFor: JWTVerifyGetKey = async (header, jws) => {
    const { issuer } = this.#options;
    try {
      const key = await this.#findKey(header, jws);
      this.#outage.end(`The keys of ${issuer} can be read again`);
      return key;
    } catch (error) {
      if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys) throw error;
      this.#outage.begin(`The keys of ${issuer} cannot be read, so no tokens are accepted: ${reasonOf(error)}`);
      throw new HttpException(503, "The service cannot read the keys of the token's issuer now", {
        "retry-after": String(retryAfterSeconds),
      });
    }
  };

  #problem(error: errors.JOSEError): string {
    if (error instanceof errors.JOSEAlgNotAllowed) return "The token is not signed with RS256";
    if (error instanceof errors.JWKSNoMatchingKey)
      return "The token is signed with a key that its issuer does not publish";
    if (error instanceof errors.JWKSMultipleMatchingKeys) return "The token does not say with which key it is signed";
    if (error instanceof errors.JWSSignatureVerificationFailed) return "The signature of the token is wrong";
    if (error instanceof errors.JWTExpired)
      return error.claim === "iat"
        ? "The token was issued more than an hour ago"
        : `The token expired${dateOf(error.payload.exp)}`;
    if (!(error instanceof errors.JWTClaimValidationFailed)) return "The token is malformed";
    const { claim, reason, payload } = error;
    if (reason === "missing") return `The token has no claim "${claim}"`;
    if (claim === "aud")
      return `The token is for the audience ${quote(String(payload.aud))}, and this service is ${quote(this.#options.audience())}`;
    if (claim === "nbf" || claim === "iat") return "The token is not valid yet";
    return `The claim "${claim}" of the token is not valid`;
  }

  #projectsOf(rules: readonly TrustRule[]): readonly string[] {
    const { projects } = this.#options;
    if (rules.some(({ project }) => project === undefined)) return projects;
    return projects.filter((one) => rules.some(({ project }) => project === one));
  }
}

/** In bytes. GitHub's keys have 5,000. */
const maxKeysBytes = 1_000_000;

/** Reads the keys of an issuer, unless they are too large to be keys. */
async function fetchBounded(url: string, options: RequestInit): Promise<Response> {
  const response = await fetch(url, options);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxKeysBytes) throw new Error(`they have more than ${maxKeysBytes} bytes`);
    chunks.push(chunk);
  }
  return new Response(Buffer.concat(chunks), { status: response.status, headers: response.headers });
}

/** Returns the issuer that a token names, which is not verified. */
function issuerOf(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    throw unauthorized("The token is malformed");
  }
}

/** `fetch` has the reason in the cause. */
function reasonOf(error: unknown): string {
  return errorMessage(error instanceof Error ? (error.cause ?? error) : error);
}

function dateOf(seconds: number | undefined): string {
  const date = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(date.getTime()) ? "" : ` at ${date.toISOString()}`;
}
