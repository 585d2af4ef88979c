import { type Option, optionNames, options } from "./table.ts";

/** Where the texts begin. */
const column = 28;

/** What `--help` prints. */
export const help = `Usage: npm run service -- [api|worker] --repository PATH-OR-URL [options]
       npm run service -- [api|worker] --config FILE [options]
       npm run service -- --store FILE --backup FILE
       npm run service -- --store FILE --export postgres://... [--schema NAME]
       npm run service -- migrate --store postgres://... [--schema NAME]
       npm run service -- jobs list [active|completed|failed|archived] --store STORE [--project ID]...
       npm run service -- jobs stop JOB [TURN] --store STORE
       npm run service -- jobs retry JOB --store STORE
       npm run service -- key add NAME --keys FILE [--project ID]... [--scope read] [--expires-days N]
       npm run service -- key list --keys FILE
       npm run service -- key revoke NAME --keys FILE

Runs an agent job service on this machine. For each job, an agent works on a branch of its own in a clone of the
repository. The service commits and pushes the agent's changes and opens a pull request.

With a Postgres store, it runs on any number of machines: api serves only the API and the pages, worker only runs agents.
Give all of them the same options. Without either word, the service does both. migrate only creates the tables, so that the user
of the others needs no right to.

${optionNames.map((name) => describe(name, options[name])).join("")}
Environment variables: AGENT_SERVICE_KEY is an API key for all projects (default: without --keys, the service generates one and
prints it).
GITHUB_TOKEN is used to push over HTTPS and to open pull requests; a project of --config can have a token of its own. None of
them is passed to agents.
`;

/** Returns the lines of an option, which are several if its value has several meanings. */
function describe(name: string, { help }: Option<unknown>): string {
  const meanings = Object.entries(help).map(([value, lines]) => {
    const start = `  --${name} ${value}`.trimEnd();
    const separator = start.length < column ? " ".repeat(column - start.length) : `\n${" ".repeat(column)}`;
    return `${start}${separator}${lines.join(`\n${" ".repeat(column)}`)}\n`;
  });
  return meanings.join("");
}
