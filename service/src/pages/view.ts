import type { IncomingMessage } from "node:http";
import { type Access, singleKeyName } from "../http/authentication.ts";

/** How a reader sees pages. */
export interface View {
  /** See `basePathOf`. */
  basePath: string;
  /** The time zone, by its IANA name. */
  zone: string;
  /** By which name the reader asks for jobs; `undefined` if that is unknown. */
  me: string | undefined;
  /** What keeps jobs from going on now. */
  problems: readonly string[];
}

const names = { zone: "agent-jobs-zone", me: "agent-jobs-me" } as const;
const maxAgeSeconds = 365 * 24 * 3600;

export const defaultZone = "UTC";

/** Returns the preferences in a browser's cookies. They are not secret and give no access. */
export function readView(request: IncomingMessage, { name }: Access): Pick<View, "zone" | "me"> {
  const given = new Map(
    (request.headers.cookie ?? "").split(/; */).map((cookie): [string, string] => {
      const [key = "", value = ""] = cookie.split("=");
      return [key, decode(value)];
    }),
  );
  const zone = given.get(names.zone) ?? "";
  const ofKey = name === singleKeyName ? undefined : name;
  return { zone: isZone(zone) ? zone : defaultZone, me: given.get(names.me) || ofKey };
}

/** Returns the cookie that keeps a choice. The script of a job's page sets the zone, too, if the browser has none. */
export function choiceCookie(name: keyof typeof names, value: string, basePath: string): string {
  return `${names[name]}=${encodeURIComponent(value)}; Path=${basePath || "/"}; SameSite=Lax; Max-Age=${maxAgeSeconds}`;
}

export function isZone(zone: string): boolean {
  try {
    return zone !== "" && new Intl.DateTimeFormat("en", { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
