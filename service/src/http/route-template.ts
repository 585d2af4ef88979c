/** The templates of the paths that the service knows. */
const templates: readonly (readonly [pattern: RegExp, template: string])[] = [
  [/^\/v2\/agent\/[^/]+\/job$/, "/v2/agent/{project}/job"],
  [/^\/v2\/agent\/[^/]+\/job\/[^/]+$/, "/v2/agent/{project}/job/{job}"],
  [/^\/v2\/agent\/[^/]+\/job\/[^/]+\/message$/, "/v2/agent/{project}/job/{job}/message"],
  [/^\/pull\/[^/]+$/, "/pull/{number}"],
  [/^\/job\/[^/]+$/, "/job/{job}"],
  [/^\/job\/[^/]+\/log$/, "/job/{job}/log"],
  [/^\/job\/[^/]+\/events$/, "/job/{job}/events"],
  [/^\/job\/[^/]+\/message$/, "/job/{job}/message"],
  [/^\/job\/[^/]+\/turn\/[^/]+\/stop$/, "/job/{job}/turn/{turn}/stop"],
  [/^\/job\/[^/]+\/turn\/[^/]+\/retry$/, "/job/{job}/turn/{turn}/retry"],
  [/^\/assets\/job-page\.js$/, "/assets/job-page.js"],
  [/^\/sign-in\/link$/, "/sign-in/link"],
  [/^\/sign-in\/[^/]+$/, "/sign-in/{link}"],
  [/^\/(sign-in|sign-out|healthz|healthz\/live|metrics)?$/, ""],
];

/** The methods that the service knows. */
const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Returns a name for the path of a request that is neither personal nor secret, and of which there are few, whatever clients
 * ask for: `other` for paths that the service does not know.
 */
export function routeTemplate(url: string | undefined): string {
  const [path = ""] = (url ?? "").split("?");
  const [, template] = templates.find(([pattern]) => pattern.test(path)) ?? [undefined, "other"];
  return template === "" ? path : template;
}

/** Returns the method of a request, or `other`. */
export function knownMethod(method: string | undefined): string {
  return method !== undefined && methods.includes(method) ? method : "other";
}
