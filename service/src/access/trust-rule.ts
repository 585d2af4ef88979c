/** Says which workflows are trusted. It is compared with the claims in their tokens. */
export interface TrustRule {
  /** The rule as it was written, for messages. */
  text: string;
  /** The project that they may use. Default: all. */
  project: string | undefined;
  /** `OWNER/NAME`, whose case does not matter. */
  repository: string;
  /** Only runs on this ref, such as `refs/heads/main`. A `*` at the end stands for any text. */
  ref: string | undefined;
  /** Only jobs with this environment. Its case does not matter, as on GitHub. */
  environment: string | undefined;
}

/** The claims of a token about the run of a workflow. */
export interface WorkflowClaims {
  repository: string;
  ref: string;
  event_name: string;
  environment?: string | undefined;
}

export const defaultIssuer = "https://token.actions.githubusercontent.com";

/**
 * Parses a rule: `[PROJECT=]OWNER/NAME[:REF|:environment:NAME]`.
 *
 * @throws if it is not valid; the message says what is expected
 */
export function parseTrustRule(text: string): TrustRule {
  const match = /^(?:([^=:]+)=)?([\w.-]+\/[\w.-]+)(?::(.+))?$/.exec(text);
  const [, project, repository = "", limit] = match ?? [];
  const environment = /^environment:(\S.{0,254})$/.exec(limit ?? "")?.[1];
  const ref = environment === undefined ? limit : undefined;
  if (match === null || (ref !== undefined && !/^refs\/[^\s*~^:?[\\]+\*?$/.test(ref)))
    throw new Error(
      `${text} is not a repository to trust, such as acme/docs, acme/docs:refs/heads/main, acme/docs:refs/tags/v*, acme/docs:environment:production or PROJECT=acme/docs.`,
    );
  return { text, project, repository, ref, environment };
}

/**
 * Parses the URL of an issuer of tokens, as their claim `iss` has it.
 *
 * @throws if it is none
 */
export function parseIssuer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.protocol === "http:" && ["127.0.0.1", "localhost", "[::1]"].includes(url.hostname);
  if (url === undefined || !(url.protocol === "https:" || isLocal) || url.href !== url.origin + url.pathname)
    throw new Error(`--trust-issuer must be an https URL, such as ${defaultIssuer}.`);
  return url.href.replace(/\/+$/, "");
}

/**
 * Returns the rules that trust a run of a workflow, or the reason why none does.
 *
 * Code from a fork runs in two kinds of runs, which only explicit rules trust: runs on `refs/pull/…`, which use the workflow of
 * the pull request, and runs for `pull_request_target`, which may check out its code.
 */
export function rulesFor(rules: readonly TrustRule[], claims: WorkflowClaims): TrustRule[] | { reason: string } {
  const { repository, ref, event_name: event, environment } = claims;
  const ofRepository = rules.filter((rule) => isSame(rule.repository, repository));
  if (ofRepository.length === 0) return { reason: `The repository ${quote(repository)} is not trusted` };
  const matching = ofRepository.filter((rule) => matchesRef(rule, ref) && matchesEnvironment(rule, environment));
  if (matching.length === 0) return { reason: `${quote(repository)} is not trusted ${place(ref, environment)}` };
  const trusted = matching.filter((rule) => event !== "pull_request_target" || rule.environment !== undefined);
  if (trusted.length > 0) return trusted;
  return { reason: `Runs of ${quote(repository)} for pull_request_target are only trusted with an environment` };
}

const isSame = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();

const pullRefs = "refs/pull/";

function matchesRef({ ref: pattern }: TrustRule, ref: string): boolean {
  if (ref.startsWith(pullRefs) && !pattern?.startsWith(pullRefs)) return false;
  if (pattern === undefined) return true;
  return pattern.endsWith("*") ? ref.startsWith(pattern.slice(0, -1)) : ref === pattern;
}

function matchesEnvironment({ environment: required }: TrustRule, environment: string | undefined): boolean {
  return required === undefined || (environment !== undefined && isSame(required, environment));
}

function place(ref: string, environment: string | undefined): string {
  return `on ${quote(ref)} ${environment === undefined ? "without an environment" : `in the environment ${quote(environment)}`}`;
}

/** Returns untrusted text for a message, in one line. */
export function quote(text: string): string {
  return JSON.stringify(text.slice(0, 300));
}
