/** What a service writes at the end of the message of its commits. */
const trailer = /^Agent-Job: (job_[\w-]+)$/m;
/** What GitHub and others add below it. */
const addition = /^(?:-+|[\w-]+: .*)$/;
const merge = /^Merge (?:branch|remote-tracking branch|pull request #\d+ from) /;

/** Returns whether a message is of a merge, which brings nothing but the commits that it merges. */
export const isMerge = (message: string): boolean => merge.test(message);

/**
 * Returns the jobs that made a commit, by the last paragraph of its message; none if a part of it may be other work. Below each commit that a squash's
 * message lists, the job has to be named.
 */
export function jobsOf(message: string): string[] {
  const [, ...paragraphs] = message
    .replaceAll("\r\n", "\n")
    .trimEnd()
    .split(/\n\s*\n/);
  const isList = paragraphs[0]?.startsWith("* ");
  const items: string[][] = [];
  for (const paragraph of paragraphs) {
    if (items.length === 0 || (isList && paragraph.startsWith("* "))) items.push([]);
    items.at(-1)?.push(paragraph);
  }
  const made = items
    .filter(([title = ""]) => !(isList && isMerge(title.slice(2))))
    .map((item) => {
      const last = item.findLast((one) => trailer.test(one) || !one.split("\n").every((line) => addition.test(line)));
      return trailer.exec(last ?? "")?.[1];
    });
  const jobs = made.filter((job) => job !== undefined);
  return jobs.length < made.length ? [] : jobs;
}
