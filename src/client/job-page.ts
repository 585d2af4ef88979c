/** Far longer than any page's address. */
const maxUrlLength = 4096;

/** Returns the link with `rel="alternate"` and `type="text/html"` on the request's origin. RFC 8288, section 3. */
export function parseJobPage(header = "", requestUrl: URL): string | undefined {
  let index = 0;
  const next = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = index;
    const match = pattern.exec(header);
    if (match) index = pattern.lastIndex;
    return match;
  };
  for (let link = next(linkTarget); link; link = next(linkTarget)) {
    // By their names in lower case. If a name repeats, its first value counts.
    const parameters = new Map<string, string>();
    for (let parameter = next(linkParameter); parameter; parameter = next(linkParameter)) {
      const [, name = "", quoted, token = ""] = parameter;
      const value = quoted === undefined ? token.trim() : quoted.replace(/\\(.)/g, "$1");
      if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
    }
    // The links up to the first one that is malformed count.
    if (!next(linkEnd)) return undefined;
    const relations = (parameters.get("rel") ?? "").toLowerCase().split(/[ \t]+/);
    const isPage = relations.includes("alternate") && parameters.get("type")?.toLowerCase() === "text/html";
    // With an anchor, the link is about something else.
    const url = isPage && !parameters.has("anchor") ? checkPage(link[1] ?? "", requestUrl) : undefined;
    if (url !== undefined) return url;
  }
  return undefined;
}

const linkTarget = /[ \t,]*<([^>]*)>/y;
/** `; name`, `; name=value` or `; name="quoted value"`. */
const linkParameter = /[ \t]*;[ \t]*([^ \t=;,"]*)[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;,"]*)))?/y;
/** The end of a link, after which the next one may follow. */
const linkEnd = /[ \t]*(?:,|$)/y;

function checkPage(target: string, requestUrl: URL): string | undefined {
  const url = /[\s\p{Cc}\\]/u.test(target) ? null : URL.parse(target, requestUrl.href);
  const isOwn = url?.origin === requestUrl.origin && /^https?:$/.test(url.protocol);
  return isOwn && url.username === "" && url.password === "" && url.href.length <= maxUrlLength ? url.href : undefined;
}
