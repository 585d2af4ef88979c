/** Which workflows are trusted, by what GitHub says about them in their tokens. */
export interface TrustRule {
  /** As it was written, for messages. */
  text: string;
  /** The project that they may use. Default: all. */
  project: string | undefined;
  /** `OWNER/NAME`, in any case. */
  repository: string;
  /** Only on this ref, such as `refs/heads/main`, or on those that begin as it does before a `*` at its end. */
  ref: string | undefined;
  /** Only in jobs with this environment, in any case, as GitHub compares them. */
  environment: string | undefined;
}

/** What a token says about the run of a workflow. */
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
 * @throws if it is none; the message says what is expected
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
 * Returns the rules by which a run of a workflow is trusted, or why it is not.
 *
 * Code from a fork runs in two kinds of runs, and those are only trusted by rules that say so: runs on `refs/pull/…`, whose
 * workflow is that of the pull request, and runs for `pull_request_target`, which may check it out.
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

/** Returns a text of someone else for a message, in one line. */
export function quote(text: string): string {
  return JSON.stringify(text.slice(0, 300));
}
