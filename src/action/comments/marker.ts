/** What a reply remembers: the job that it is about, and the comment that it answers. */
export interface Marker {
  projectId: string;
  jobId: string;
  commentId: number;
}

/** Ids are short; a longer line would leave no room for the reply. */
const longestMarker = 4096;

/** The hidden last line of a reply; empty where the ids are too long for one. */
export function writeMarker({ projectId, jobId, commentId }: Marker): string {
  const fields = `project=${encodeURIComponent(projectId)} job=${encodeURIComponent(jobId)} comment=${commentId}`;
  const line = `<!-- agent-job-action ${fields} -->`;
  return line.length > longestMarker ? "" : line;
}

const markerLine = /^<!-- agent-job-action project=(\S+) job=(\S+) comment=(\d+) -->$/;

/** The marker of a reply, which is the whole of its last line and nowhere else. */
export function readMarker(body: string): Marker | undefined {
  const [, project, job, comment] = markerLine.exec(body.split(/\r?\n/).at(-1) ?? "") ?? [];
  if (project === undefined || job === undefined) return undefined;
  try {
    const jobId = decodeURIComponent(job);
    // As in a job record: these would change the path of a request.
    if (jobId === "." || jobId === "..") return undefined;
    return { projectId: decodeURIComponent(project), jobId, commentId: Number(comment) };
  } catch {
    return undefined;
  }
}
