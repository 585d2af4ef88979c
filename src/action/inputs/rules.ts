import * as z from "zod/mini";
import { isProtectedUrl } from "../../client/protected-url.ts";
import { type PathFilter, parsePaths } from "../changes/paths.ts";
import { parseSince, type Since } from "../changes/since.ts";
import { type Permission, permissions } from "../comments/permission.ts";
import { failableOutcomes } from "../outcome.ts";

/** Makes a schema rule from a function that describes the problem with a value, if there is one. */
const rule = (problemWith: (value: string) => string | undefined) =>
  z.check<string>((context) => {
    const message = problemWith(context.value);
    if (message) context.issues.push({ code: "custom", message, input: context.value, continue: false });
  });

const trueWords = ["true", "True", "TRUE"];
const falseWords = ["false", "False", "FALSE"];

/** A boolean of the YAML 1.2 core schema, as the toolkit's `getBooleanInput` reads it. */
export const boolean = z.pipe(
  z
    .string()
    .check(rule((value) => ([...trueWords, ...falseWords].includes(value) ? undefined : "must be true or false"))),
  z.transform((value) => trueWords.includes(value)),
);

export const positiveDecimal = z.pipe(
  z
    .string()
    .check(
      rule((value) =>
        /^\d+(\.\d+)?$/.test(value) && Number(value) > 0 && Number.isFinite(Number(value))
          ? undefined
          : "must be a decimal number greater than 0, such as 5 or 0.5",
      ),
    ),
  z.transform(Number),
);

/** Checks a value that becomes a path segment of the request's URL. */
const pathSegment = rule((value) => {
  if (value === "." || value === "..") return `must not be ${value}, which would change the URL of the request`;
  return /\p{Cc}/u.test(value) ? "must not contain control characters" : undefined;
});

function baseUrlProblem(value: string): string | undefined {
  if (!URL.canParse(value)) return "must be an absolute URL, such as https://api.mintlify.com";
  const url = new URL(value);
  if (url.username || url.password || /^[^/]*\/\/[^/]*@/.test(value))
    return "must not contain credentials; the key belongs in api-key";
  if (/[?#]/.test(value)) return "must not contain a query or a fragment";
  if (isProtectedUrl(url)) return undefined;
  return "must begin with https://, because the key would be sent in the clear otherwise (http:// is only for loopback hosts such as localhost)";
}

/** Returns what is wrong with an API key, if anything. Never contains the key. */
export function apiKeyProblem(value: string): string | undefined {
  if (value === "") {
    return (
      "is empty. Set it from a secret: api-key: $" +
      "{{ secrets.NAME }}. Check the secret's name. Secrets are always empty in runs for pull requests from forks, " +
      "and runs started by Dependabot only see Dependabot's secrets"
    );
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    return "contains a line break, a space or another character that no API key has. Paste the key into the secret again";
  }
  const otherKind = { mint_dsc_: "an assistant key", mint_us_: "an index key" };
  for (const [prefix, kind] of Object.entries(otherKind)) {
    if (value.startsWith(prefix)) return `is ${kind} (${prefix}…). Agent jobs need an admin key`;
  }
  return undefined;
}

/** A job or project id. */
export const identifier = z.string().check(pathSegment);

/** `https`, or `http` for a loopback host. A path is kept. */
export const baseUrl = z.pipe(
  z.string().check(rule(baseUrlProblem)),
  z.transform((value) => new URL(value)),
);

export const authMethods = ["key", "github-oidc"] as const;
export type AuthMethod = (typeof authMethods)[number];

/** What authenticates requests to the service: a key, or OIDC tokens of the workflow run. */
export const auth = z.pipe(
  z
    .string()
    .check(
      rule((value) =>
        (authMethods as readonly string[]).includes(value) ? undefined : `must be ${authMethods.join(" or ")}`,
      ),
    ),
  z.transform((value) => value as AuthMethod),
);

/** Outcomes to fail on; `none` for an empty set. */
export const failOn = z.pipe(
  z.string().check(
    rule((value) => {
      const names = listOf(value);
      const known: readonly string[] = failableOutcomes;
      const isValid = value === "none" || (names.length > 0 && names.every((name) => known.includes(name)));
      return isValid ? undefined : `must be a comma-separated list of ${failableOutcomes.join(", ")}, or only none`;
    }),
  ),
  z.transform((value) => new Set(failableOutcomes.filter((outcome) => listOf(value).includes(outcome)))),
);

function listOf(value: string): string[] {
  return value.split(",").map((name) => name.trim());
}

/** The minimum repository permission. */
export const requiredPermission = z.pipe(
  z
    .string()
    .check(
      rule((value) =>
        (permissions as readonly string[]).includes(value) ? undefined : `must be one of ${permissions.join(", ")}`,
      ),
    ),
  z.transform((value) => value as Permission),
);

/** Bot logins, in lower case, because GitHub logins are case-insensitive. */
export const allowedBots = z.pipe(
  z
    .string()
    .check(
      rule((value) =>
        value.includes("*")
          ? "must be a list of logins, such as renovate[bot]; wildcards are not supported"
          : undefined,
      ),
    ),
  z.transform((value) => new Set(listOf(value.toLowerCase()).filter(Boolean))),
);

/** What a re-run does with the job of an earlier attempt. */
export const onRerun = z.pipe(
  z.string().check(rule((value) => (value === "resume" || value === "new" ? undefined : "must be resume or new"))),
  z.transform((value) => (value === "new" ? "new" : "resume")),
);

/** In UTF-16 units. */
const maxSessionLength = 100;

/** The name of a session, or empty. */
export const sessionName = z.string().check(
  rule((value) => {
    if (value.length > maxSessionLength) return `must not be longer than ${maxSessionLength} characters`;
    return /\p{Cc}/u.test(value) ? "must not contain control characters" : undefined;
  }),
);

/** What the prompt says about changes. */
export const changesDetail = z.pipe(
  z
    .string()
    .check(rule((value) => (["none", "list", "diff"].includes(value) ? undefined : "must be none, list or diff"))),
  z.transform((value) => value as "none" | "list" | "diff"),
);

/** Where the range of changes starts. */
export const changesSince = z.pipe(
  z
    .string()
    .check(
      rule((value) =>
        parseSince(value)
          ? undefined
          : "must be auto, a duration above 0 such as 24h or 7d, or the name of a commit, tag or branch",
      ),
    ),
  z.transform((value): Since => parseSince(value) ?? { kind: "auto" }),
);

/** Which files count; `undefined` if all do. */
export const pathPatterns = z.pipe(
  z.string().check(
    rule((value) => {
      const parsed = parsePaths(value);
      if (!parsed || !("problem" in parsed)) return undefined;
      return `has a pattern that cannot be read: line ${parsed.line} ${parsed.problem}`;
    }),
  ),
  z.transform((value): PathFilter | undefined => {
    const parsed = parsePaths(value);
    return parsed && "matches" in parsed ? parsed : undefined;
  }),
);
