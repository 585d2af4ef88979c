import type { AgentKind } from "./plan.ts";

/** What stands for the key of a model. */
export const modelKey = "sk-model-key-5566778899aabbccdd";

/** An agent that was run: what it was asked, and what it did. The judge knows of agents only by these. */
export interface AgentRun {
  /** In the name of its page, which nothing else writes. */
  id: string;
  kind: AgentKind;
  /** The attempt that it was run in, as `RUN/ATTEMPT`. */
  attempt: string;
  run: number;
  /** The job that it was told. */
  job: string;
  /** What its prompt begins with. */
  task: string;
  /** Whether it was asked to repair what a check found. */
  isSecondGo: boolean;
  /** Its environment, and what it found in its home. */
  found: string;
  /** The agent of another run that worked when it started. */
  other: string | undefined;
  /** Whether it ended by itself, and well. */
  isCompleted: boolean;
  /** The agents' pages that were on GitHub when it started, in branches and pull requests, and those that were kept in refs. */
  published: ReadonlySet<string>;
  kept: ReadonlySet<string>;
}

/** Returns the name of an agent's page. */
export const pageOf = (id: string): string => `docs/work-${id}.md`;

/** Finds the ids of agents in names of pages, or in texts that name them. */
export const idsIn = (text: string): string[] => [...text.matchAll(/work-(u\d+)\.md/g)].map(([, id = ""]) => id);

const curl = "curl --silent --show-error";

/** What a check looks for in the docs. */
export const check = "! grep -rq BROKEN docs";

/** The command of an agent: it tells the stand-in of its prompt, and does what that answers. */
export const agentCommand = (url: string): string =>
  `{ cat "$AGENT_PROMPT_FILE"; echo; echo "=== found"; env; cat "$HOME/notes" 2> /dev/null; } | ${curl} --data-binary @- "${url}/agent?job=$AGENT_JOB_ID&at=$TMPDIR" > "$TMPDIR/script" && . "$TMPDIR/script"`;

/** Whether an agent that completes leaves a change that may be published. */
export function isPublishable(kind: AgentKind): boolean {
  return !["nothing", "fails", "endless", "overtime", "secret", "outside"].includes(kind);
}

/** Returns what an agent does, as a shell script. */
export function scriptOf(kind: AgentKind, id: string, isSecondGo: boolean, url: string): string {
  const page = pageOf(id);
  const write = `mkdir -p docs; echo "Work of ${id}." > ${page}`;
  const sleep = "sleep 300";
  const message = JSON.stringify({ message: "Done.\n::error::not live\n##[error]not live" });
  const scripts: Record<AgentKind, string> = {
    page: write,
    edit: `${write}; sed -i '5s/.*/The line of ${id}./' docs/guide.md`,
    nothing: "true",
    fails: `${write}; exit 3`,
    slow: `sleep 5; ${write}`,
    endless: `${write}; ${sleep}`,
    overtime: `${write}; ${sleep}`,
    leaves: `${write}; (setsid ${sleep} > /dev/null 2>&1 &); nohup ${sleep} > /dev/null 2>&1 &`,
    commits: `${write}; git add --all; git commit --quiet --message "A message of ${id}"`,
    speaks: `${write}; echo "::error::not live $MODEL_KEY"; echo "$MODEL_KEY" > "$HOME/notes"; printf %s '${message}' > "$AGENT_RESULT_FILE"`,
    secret: `${write}; echo "$MODEL_KEY" >> ${page}`,
    outside: `mkdir -p src; echo "${id}" > src/${id}.txt`,
    broken: isSecondGo ? `${write}; sed -i s/BROKEN/fine/ docs/work-*.md` : `${write}; echo BROKEN >> ${page}`,
    unrepaired: `${write}; echo BROKEN >> ${page}`,
  };
  return `${scripts[kind]}\n${curl} "${url}/agent/completed?id=${id}"\n`;
}
