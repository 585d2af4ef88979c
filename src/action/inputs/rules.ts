import { isProtectedUrl } from "../../client/credentials.ts";
import { forkAdvice } from "../../runner-kit/agent-service.ts";
import { isPossibleRef, parseSince, type Since } from "../changes/since.ts";
import { failReasons } from "../outcome.ts";

/** What a value of an input means, or what is wrong with it: text that continues the sentence after the input's name. */
export type Parsed<T> = { value: T } | { problem: string };

export type Rule<T> = (text: string) => Parsed<T>;

/** Makes a rule from a function that describes the problem with a value, if there is one, and one that converts the others. */
const rule =
  <T>(problemWith: (text: string) => string | undefined, convert: (text: string) => T): Rule<T> =>
  (text) => {
    const problem = problemWith(text);
    return problem === undefined ? { value: convert(text) } : { problem };
  };

const asWritten = (text: string): string => text;

/** Makes a rule for a value that must be one of these. */
export const oneOf =
  <const T extends string>(values: readonly T[], problem = `must be ${values.join(" or ")}`): Rule<T> =>
  (text) => {
    const value = values.find((each) => each === text);
    return value === undefined ? { problem } : { value };
  };

/** Any text, or text that is checked together with another input. */
export const anyText: Rule<string> = (value) => ({ value });

/** A boolean of the YAML 1.2 core schema, as the toolkit's `getBooleanInput` reads it. */
export const boolean = rule(
  (text) => (/^(true|True|TRUE|false|False|FALSE)$/.test(text) ? undefined : "must be true or false"),
  (text) => text.toLowerCase() === "true",
);

export const positiveDecimal = rule(
  (text) =>
    /^\d+(\.\d+)?$/.test(text) && Number(text) > 0 && Number.isFinite(Number(text))
      ? undefined
      : "must be a decimal number greater than 0, such as 5 or 0.5",
  Number,
);

/** `https`, or `http` for a loopback host. A path is kept. */
export const baseUrl = rule(
  (value) => {
    if (!URL.canParse(value)) return "must be an absolute URL, such as https://api.mintlify.com";
    const url = new URL(value);
    if (url.username || url.password || /^[^/]*\/\/[^/]*@/.test(value))
      return "must not contain credentials; the key belongs in api-key";
    if (/[?#]/.test(value)) return "must not contain a query or a fragment";
    if (isProtectedUrl(url)) return undefined;
    return "must begin with https://, because the key would be sent in the clear otherwise (http:// is only for loopback hosts such as localhost)";
  },
  (text) => new URL(text),
);

/** Returns whether a value can be a key: it is sent in a header of HTTP. */
export const isKey = (value: string): boolean => /^[\x21-\x7e]+$/.test(value);

export const noKey =
  "contains a line break, a space or another character that no API key has. Paste the key into the secret again";

/** Returns the problem with an API key, if there is one. Never contains the key. */
export function apiKeyProblem(value: string): string | undefined {
  if (value === "")
    return `is empty. Set it from a secret: api-key: \${{ secrets.NAME }}. Check the secret's name. ${forkAdvice}. Runs started by Dependabot only see Dependabot's secrets`;
  if (!isKey(value)) return noKey;
  const otherKind = { mint_dsc_: "an assistant key", mint_us_: "an index key" };
  for (const [prefix, kind] of Object.entries(otherKind)) {
    if (value.startsWith(prefix)) return `is ${kind} (${prefix}…). Agent jobs need an admin key`;
  }
  return undefined;
}

/** A job or project id, which becomes a path segment of the request's URL. */
export const identifier = rule((text) => {
  if (text === "." || text === "..") return `must not be ${text}, which would change the URL of the request`;
  return /\p{Cc}/u.test(text) ? "must not contain control characters" : undefined;
}, asWritten);

/** The characters of a token. */
export const tokenPattern = /^[\x21-\x7e]+$/;

/** A shell command. */
export const oneLine = rule(
  (text) => (/\p{Cc}/u.test(text) ? "must be one line: put the commands into a script, or && between them" : undefined),
  asWritten,
);

/** What authenticates requests to the service: a key, or OIDC tokens of the workflow run. */
export const authMethods = ["key", "github-oidc"] as const;
export type AuthMethod = (typeof authMethods)[number];

/** Outcomes to fail on; `none` for an empty set. */
export const failOn = rule(
  (text) => {
    const names = listOf(text);
    const known: readonly string[] = failReasons;
    const isValid = text === "none" || (names.length > 0 && names.every((name) => known.includes(name)));
    return isValid ? undefined : `must be a comma-separated list of ${failReasons.join(", ")}, or only none`;
  },
  (text) => new Set(failReasons.filter((reason) => listOf(text).includes(reason))),
);

function listOf(text: string): string[] {
  return text.split(",").map((name) => name.trim());
}

/** Bot logins, in lower case, because GitHub logins are case-insensitive. */
export const allowedBots = rule(
  (text) =>
    text.includes("*") ? "must be a list of logins, such as renovate[bot]; wildcards are not supported" : undefined,
  (text) => new Set(listOf(text.toLowerCase()).filter(Boolean)),
);

/** The branch that a job starts from, `pull-request`, or empty. */
export const baseBranch = rule(
  (text) => (text === "" || isPossibleRef(text) ? undefined : "must be the name of a branch, or pull-request"),
  asWritten,
);

/** In UTF-16 units. */
const maxSessionLength = 100;

export const sessionName = rule((text) => {
  if (text.length > maxSessionLength) return `must not be longer than ${maxSessionLength} characters`;
  return /\p{Cc}/u.test(text) ? "must not contain control characters" : undefined;
}, asWritten);

export const changesSince: Rule<Since> = (text) => {
  const value = parseSince(text);
  if (value) return { value };
  return { problem: "must be auto, a duration above 0 such as 24h or 7d, or the name of a commit, tag or branch" };
};
