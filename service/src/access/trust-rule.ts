/** Says which workflows are trusted. It is compared with the claims in their tokens. */
export interface TrustRule {
  /** The rule as it was written, for messages. */
  text: string;
  /** The project that they may use. Default: all. */
  project: string | undefined;
  /** `OWNER/NAME`, whose case does not matter. With an id of the repository, it may have got another name since. */
  repository: string;
  /** The ids of the repository and of its owner, which nobody can take over, as a name. Default: the name decides. */
  repositoryId: string | undefined;
  ownerId: string | undefined;
  /** Only runs on this ref, such as `refs/heads/main`. A `*` at the end stands for any text. */
  ref: string | undefined;
  /** Only jobs with this environment. Its case does not matter, as on GitHub. */
  environment: string | undefined;
}

/** The claims of a token about the run of a workflow. */
export interface WorkflowClaims {
  repository: string;
  repository_id?: string | undefined;
  repository_owner_id?: string | undefined;
  ref: string;
  event_name: string;
  environment?: string | undefined;
}

export const defaultIssuer = "https://token.actions.githubusercontent.com";

/**
 * Parses a rule: `[PROJECT=]OWNER[@ID]/NAME[@ID][:REF|:environment:NAME]`, with ids as in the subject of GitHub's tokens.
 *
 * @throws if it is not valid; the message says what is expected
 */
export function parseTrustRule(text: string): TrustRule {
  const match = /^(?:([^=:]+)=)?([\w.-]+)(?:@(\d+))?\/([\w.-]+)(?:@(\d+))?(?::(.+))?$/.exec(text);
  const [, project, owner, ownerId, name, repositoryId, limit] = match ?? [];
  const environment = /^environment:(\S.{0,254})$/.exec(limit ?? "")?.[1];
  const ref = environment === undefined ? limit : undefined;
  if (match === null || (ref !== undefined && !/^refs\/[^\s*~^:?[\\]+\*?$/.test(ref)))
    throw new Error(
      `${text} is not a repository to trust, such as acme/docs, acme/docs:refs/heads/main, acme/docs:refs/tags/v*, acme/docs:environment:production, acme@12/docs@345 or PROJECT=acme/docs.`,
    );
  return { text, project, repository: `${owner}/${name}`, repositoryId, ownerId, ref, environment };
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
 * Code from a fork runs in two kinds of runs, which only explicit rules trust: runs on `refs/pull/…`, which use the workflow of the pull
 * request, and runs for `pull_request_target`, which may check out its code.
 */
export function rulesFor(rules: readonly TrustRule[], claims: WorkflowClaims): TrustRule[] | { reason: string } {
  const { repository, ref, event_name: event, environment } = claims;
  const ofRepository = rules.filter((rule) => matchesRepository(rule, claims));
  if (ofRepository.length === 0) {
    const isNamed = rules.some((rule) => isSame(rule.repository, repository));
    return { reason: `The repository ${quote(repository)} is not trusted${isNamed ? ` with ${idsOf(claims)}` : ""}` };
  }
  const matching = ofRepository.filter((rule) => matchesRef(rule, ref) && matchesEnvironment(rule, environment));
  if (matching.length === 0) return { reason: `${quote(repository)} is not trusted ${place(ref, environment)}` };
  const trusted = matching.filter((rule) => event !== "pull_request_target" || rule.environment !== undefined);
  if (trusted.length > 0) return trusted;
  return { reason: `Runs of ${quote(repository)} for pull_request_target are only trusted with an environment` };
}

/** An id decides alone: it stays when the repository is renamed, and another one with the old name has another id. */
function matchesRepository({ repository, repositoryId, ownerId }: TrustRule, claims: WorkflowClaims): boolean {
  if (ownerId !== undefined && ownerId !== claims.repository_owner_id) return false;
  return repositoryId === undefined ? isSame(repository, claims.repository) : repositoryId === claims.repository_id;
}

function idsOf({ repository_id: id = "?", repository_owner_id: owner = "?" }: WorkflowClaims): string {
  return `the id ${quote(id)} and the owner's id ${quote(owner)}`;
}

/** Returns the rule that trusts a repository by its ids; `undefined` if the claims lack them. */
export function byIds({
  repository,
  repository_id: id,
  repository_owner_id: ownerId,
}: WorkflowClaims): string | undefined {
  const [, owner, name] = /^([\w.-]+)\/([\w.-]+)$/.exec(repository) ?? [];
  const areIds = [id, ownerId].every((one) => /^\d+$/.test(one ?? ""));
  return owner === undefined || !areIds ? undefined : `${owner}@${ownerId}/${name}@${id}`;
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
