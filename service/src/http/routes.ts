import { turnIdSyntax } from "../model.ts";

/** What a request needs to be answered. */
export type RouteAccess =
  /** Nothing. */
  | "anyone"
  /** An API key or a workflow's token. Without it: 401. */
  | "key"
  /** A key or token for the project in the path. It is checked before the method, so that others learn nothing about projects. */
  | "key for the project"
  /** A key or token, or a program on this machine. Without either: 401. */
  | "this machine or key"
  /** A signed-in browser. Without a session: leads to the sign-in form. */
  | "session"
  /** A signed-in browser, or a program with a key or token. */
  | "session or key"
  /** A signed-in browser that sends a form. Without a session: 401 with the text of the form, which the browser may have lost. */
  | "session of a form";

export type Method = "GET" | "HEAD" | "POST";

export interface Route {
  /** Parameters are in braces. It is also the route's label in metrics and logs, which have neither names nor secrets. */
  path: string;
  /** As `Allow` names them. */
  methods: readonly Method[];
  /** Whether `HEAD` is answered like `GET`, although `Allow` does not name it. Default: no. */
  alsoHead?: boolean;
  access: RouteAccess;
  /** Whether a parameter is any text, percent-encoded. Default: it has the syntax of its name, see `parameterSyntax`. */
  takesAnyText?: boolean;
  /** Whether a request may call the service by any host name. Default: only by its own, see `hostProblem`. */
  takesAnyHost?: boolean;
}

const read = ["GET", "HEAD"] as const;
const write = ["POST"] as const;

export const operationRoutes = {
  // Whoever collects metrics knows each process by its address in a network, and no website has the key.
  metrics: { path: "/metrics", methods: read, access: "this machine or key", takesAnyHost: true },
  // A probe of an orchestrator names a process by the address of its pod or by the pod's name.
  health: { path: "/healthz", methods: read, access: "anyone", takesAnyHost: true },
  liveness: { path: "/healthz/live", methods: read, access: "anyone", takesAnyHost: true },
} as const satisfies Readonly<Record<string, Route>>;

const ofProject = { access: "key for the project", takesAnyText: true } as const;

/** Specification: "Endpoints". */
export const apiRoutes = {
  createJob: { path: "/v2/agent/{project}/job", methods: write, ...ofProject },
  // Beyond the specification.
  findStep: { path: "/v2/agent/{project}/job", methods: ["GET"], alsoHead: true, ...ofProject },
  readJob: { path: "/v2/agent/{project}/job/{job}", methods: ["GET"], alsoHead: true, ...ofProject },
  sendMessage: { path: "/v2/agent/{project}/job/{job}/message", methods: write, ...ofProject },
  // Beyond the specification.
  endTurn: { path: "/v2/agent/{project}/job/{job}/turn/{turn}/stop", methods: write, ...ofProject },
} as const satisfies Readonly<Record<string, Route>>;

export const pageRoutes = {
  jobList: { path: "/", methods: read, access: "session" },
  costs: { path: "/costs", methods: read, access: "session" },
  settings: { path: "/settings", methods: ["GET", "HEAD", "POST"], access: "session" },
  pullRequest: { path: "/pull/{number}", methods: read, access: "session" },
  jobPage: { path: "/job/{job}", methods: read, access: "session" },
  jobLog: { path: "/job/{job}/log", methods: read, access: "session or key" },
  keptPatch: { path: "/job/{job}/patch", methods: read, access: "session or key" },
  turnLog: { path: "/job/{job}/turn/{turn}/log", methods: read, access: "session" },
  jobEvents: { path: "/job/{job}/events", methods: read, access: "session or key" },
  messageForm: { path: "/job/{job}/message", methods: write, access: "session of a form" },
  stopTurn: { path: "/job/{job}/turn/{turn}/stop", methods: write, access: "session or key" },
  retryTurn: { path: "/job/{job}/turn/{turn}/retry", methods: write, access: "session or key" },
  jobScript: { path: "/assets/job-page.js", methods: read, access: "anyone" },
  createSignInLink: { path: "/sign-in/link", methods: write, access: "key" },
  // A `HEAD` must not use up the link.
  followSignInLink: { path: "/sign-in/{link}", methods: ["GET"], access: "anyone" },
  signIn: { path: "/sign-in", methods: ["GET", "HEAD", "POST"], access: "anyone" },
  signOut: { path: "/sign-out", methods: write, access: "anyone" },
} as const satisfies Readonly<Record<string, Route>>;

/**
 * Every path that the service answers. If two match, the first one counts. Routes of the same path have different methods and
 * the same access.
 */
export const routes = { ...operationRoutes, ...apiRoutes, ...pageRoutes };

export type RouteName = keyof typeof routes;

type NamesIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never;

/** The parameters in the path of a route. */
export type Parameters<Name extends RouteName> = Readonly<Record<NamesIn<(typeof routes)[Name]["path"]>, string>>;

type ParameterName = NamesIn<(typeof routes)[RouteName]["path"]>;

const parameterSyntax: Readonly<Partial<Record<ParameterName, RegExp>>> = {
  job: /^[\w-]{1,64}$/,
  turn: new RegExp(`^${turnIdSyntax.source}$`),
  number: /^\d{1,9}$/,
  link: /^[\w-]{43}$/,
};

/** The routes of a path. */
export interface RouteMatch {
  path: string;
  /** At least one; several if other endpoints answer other methods. */
  routes: readonly NamedRoute[];
  /** By name; empty for those that the path does not have. Undefined if one has the wrong syntax, so that nothing has this path. */
  parameters: Readonly<Record<ParameterName, string>> | undefined;
}

export interface NamedRoute {
  name: RouteName;
  route: Route;
}

/** Returns whether a route answers requests with a method. */
export function takesMethod({ methods, alsoHead }: Route, method: string | undefined): boolean {
  return methods.some((one) => one === method) || (alsoHead === true && method === "HEAD");
}

/** Returns the routes that have the form of a path, which is without a query; `undefined` if there is none. */
export function matchRoute(path: string): RouteMatch | undefined {
  const texts = path.split("/");
  for (const { template, routes: ofPath, segments, takesAnyText } of table) {
    const isMatch =
      segments.length === texts.length &&
      segments.every((segment, index) => (isParameter(segment) ? texts[index] !== "" : texts[index] === segment));
    if (isMatch) return { path: template, routes: ofPath, parameters: parametersIn(segments, texts, takesAnyText) };
  }
  return undefined;
}

const named: readonly NamedRoute[] = (Object.keys(routes) as RouteName[]).map((name) => ({
  name,
  route: routes[name],
}));

const table = [...new Set(named.map(({ route }) => route.path))].map((template) => {
  const ofPath = named.filter(({ route }) => route.path === template);
  const takesAnyText = ofPath.some(({ route }) => route.takesAnyText);
  return { template, routes: ofPath, segments: template.split("/"), takesAnyText };
});

const isParameter = (segment: string): boolean => segment.startsWith("{");

function parametersIn(
  segments: readonly string[],
  texts: readonly string[],
  takesAnyText: boolean,
): RouteMatch["parameters"] {
  const found = { project: "", job: "", turn: "", number: "", link: "" };
  for (const name of Object.keys(found) as ParameterName[]) {
    const index = segments.indexOf(`{${name}}`);
    if (index === -1) continue;
    found[name] = texts[index] ?? "";
    if (!takesAnyText && parameterSyntax[name]?.test(found[name]) === false) return undefined;
  }
  return found;
}
