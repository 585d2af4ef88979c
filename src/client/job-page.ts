/** Far longer than any page's address. */
const maxUrlLength = 4096;

/**
 * Returns the address of a job's page for people: the first link of a `Link` header with `rel="alternate"` and
 * `type="text/html"`. It must be on the service's own origin, which is `https` or a loopback host; `undefined` otherwise.
 * RFC 8288, section 3 and appendix B.
 *
 * @param requestUrl - the address that the response came from, which a relative link is relative to
 */
export function parseJobPage(header: string | undefined, requestUrl: URL): string | undefined {
  for (const { target, parameters } of parseLinks(header ?? "")) {
    const relations = (parameters.get("rel") ?? "").toLowerCase().split(/[ \t]+/);
    // With an anchor, the link is about something else.
    if (!relations.includes("alternate") || parameters.has("anchor")) continue;
    const url = parameters.get("type")?.toLowerCase() === "text/html" ? checkPage(target, requestUrl) : undefined;
    if (url !== undefined) return url;
  }
  return undefined;
}

function checkPage(target: string, requestUrl: URL): string | undefined {
  if (/[\s\p{Cc}\\]/u.test(target) || !URL.canParse(target, requestUrl.href)) return undefined;
  const url = new URL(target, requestUrl);
  const isOwn = url.origin === requestUrl.origin && /^https?:$/.test(url.protocol);
  return isOwn && url.username === "" && url.password === "" && url.href.length <= maxUrlLength ? url.href : undefined;
}

interface Link {
  target: string;
  /** The parameters by their names in lower case. If a name repeats, its first value counts. */
  parameters: ReadonlyMap<string, string>;
}

const linkTarget = /[ \t,]*<([^>]*)>/y;
/** `; name`, `; name=value` or `; name="quoted value"`. */
const linkParameter = /[ \t]*;[ \t]*([^ \t=;,"]*)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;,"]*)))?/y;
/** The end of a link, after which the next one may follow. */
const linkEnd = /[ \t]*(?:,|$)/y;

/** Parses the links of a header, up to the first one that is malformed. */
function parseLinks(header: string): Link[] {
  const links: Link[] = [];
  let index = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = index;
    const match = pattern.exec(header);
    if (match) index = pattern.lastIndex;
    return match;
  };
  for (let match = next(linkTarget); match; match = next(linkTarget)) {
    const target = match[1] ?? "";
    const parameters = new Map<string, string>();
    for (let parameter = next(linkParameter); parameter; parameter = next(linkParameter)) {
      const [, name = "", quoted, token = ""] = parameter;
      const value = quoted === undefined ? token.trim() : quoted.replace(/\\(.)/g, "$1");
      if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
    }
    if (!next(linkEnd)) break;
    links.push({ target, parameters });
  }
  return links;
}
