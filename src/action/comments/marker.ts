import { isUsableJobId } from "../../client/contract.ts";

/** What a reply remembers: its job, and the comment that it answers. */
export interface Marker {
  projectId: string;
  jobId: string;
  commentId: number;
}

/** Ids are short. A longer line would leave no room for the reply. */
const maxMarkerLength = 4096;

/** Formats the hidden last line of a reply; empty if the ids are too long. */
export function formatMarker({ projectId, jobId, commentId }: Marker): string {
  const fields = `project=${encodeURIComponent(projectId)} job=${encodeURIComponent(jobId)} comment=${commentId}`;
  const line = `<!-- agent-job-action ${fields} -->`;
  return line.length > maxMarkerLength ? "" : line;
}

const markerLine = /^<!-- agent-job-action project=(\S+) job=(\S+) comment=(\d+) -->$/;

/** Parses the marker of a reply, which is only valid as the whole last line. */
export function parseMarker(body: string): Marker | undefined {
  const [, project, job, comment] = markerLine.exec(body.split(/\r?\n/).at(-1) ?? "") ?? [];
  if (project === undefined || job === undefined) return undefined;
  try {
    const jobId = decodeURIComponent(job);
    if (!isUsableJobId(jobId)) return undefined;
    return { projectId: decodeURIComponent(project), jobId, commentId: Number(comment) };
  } catch {
    return undefined;
  }
}
