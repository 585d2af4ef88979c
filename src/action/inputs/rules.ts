import * as z from "zod/mini";
import { type Permission, permissions } from "../comments/permission.ts";

/** Outcomes that `fail-on` may name. */
export const failableOutcomes = ["failed", "archived", "timed-out", "no-changes"] as const;
export type FailableOutcome = (typeof failableOutcomes)[number];

/** A schema rule from a function that names the problem with a value, if there is one. */
const rule = (problemWith: (value: string) => string | undefined) =>
  z.check<string>((context) => {
    const message = problemWith(context.value);
    if (message) context.issues.push({ code: "custom", message, input: context.value, continue: false });
  });

const trueWords = ["true", "True", "TRUE"];
const falseWords = ["false", "False", "FALSE"];

/** YAML 1.2 core schema, as the toolkit's `getBooleanInput` reads it. */
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
          : "must be a plain decimal number above 0, such as 5 or 0.5",
      ),
    ),
  z.transform(Number),
);

const notDots = rule((value) =>
  value === "." || value === ".." ? `must not be ${value}, which would change the address of the request` : undefined,
);

const loopbackHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

function baseUrlProblem(value: string): string | undefined {
  if (!URL.canParse(value)) return "must be an absolute URL, such as https://api.mintlify.com";
  const url = new URL(value);
  if (url.username || url.password || /^[^/]*\/\/[^/]*@/.test(value))
    return "must not hold credentials; the key belongs in api-key";
  if (/[?#]/.test(value)) return "must not hold a query or a fragment";
  if (url.protocol === "https:" || (url.protocol === "http:" && loopbackHost.test(url.hostname))) return undefined;
  return "must begin with https:// (http:// is for a loopback host such as localhost alone): the key would be sent in the clear";
}

function apiKeyProblem(value: string): string | undefined {
  if (value === "") {
    return (
      "is empty. Set it from a secret: api-key: $" +
      "{{ secrets.NAME }}. Check the secret's name; in runs for pull requests from forks secrets are always empty, " +
      "and runs started by Dependabot see Dependabot's secrets alone"
    );
  }
  if (!/^[\x21-\x7e]+$/.test(value)) {
    return "holds a line break, a space or another character that no API key has. Paste the key into the secret again";
  }
  const otherKind = { mint_dsc_: "an assistant key", mint_us_: "an index key" };
  for (const [prefix, kind] of Object.entries(otherKind)) {
    if (value.startsWith(prefix)) return `is ${kind} (${prefix}…). Agent jobs need an admin key`;
  }
  return undefined;
}

/** An id that becomes a segment of a path. */
export const identifier = z.string().check(notDots);

export const projectId = z.string().check(
  rule((value) => (value ? undefined : "is empty. Copy it from the API keys page of the dashboard")),
  notDots,
);

/** `https`, or `http` to this machine; a path is kept. */
export const baseUrl = z.pipe(
  z.string().check(rule(baseUrlProblem)),
  z.transform((value) => new URL(value)),
);

export const apiKey = z.string().check(rule(apiKeyProblem));

/** Empty, or what a header may hold. */
export const githubToken = z
  .string()
  .check(rule((value) => (/^[\x21-\x7e]*$/.test(value) ? undefined : "holds characters that no token has")));

/** Outcomes to fail on, or none. */
export const failOn = z.pipe(
  z.string().check(
    rule((value) => {
      const names = listOf(value);
      const known: readonly string[] = failableOutcomes;
      const isValid = value === "none" || (names.length > 0 && names.every((name) => known.includes(name)));
      return isValid
        ? undefined
        : `must list any of ${failableOutcomes.join(", ")}, separated by commas, or be none alone`;
    }),
  ),
  z.transform((value) => new Set(failableOutcomes.filter((outcome) => listOf(value).includes(outcome)))),
);

function listOf(value: string): string[] {
  return value.split(",").map((name) => name.trim());
}

/** The least repository permission. */
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

/** Logins of bots, in lower case, as GitHub does not tell cases of logins apart. */
export const allowedBots = z.pipe(
  z
    .string()
    .check(
      rule((value) =>
        value.includes("*") ? "must list logins, such as renovate[bot]; there is no wildcard" : undefined,
      ),
    ),
  z.transform((value) => new Set(listOf(value.toLowerCase()).filter(Boolean))),
);
