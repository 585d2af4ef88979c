import { isUsableJobId } from "../../client/contract.ts";
import type { RequestId } from "./event.ts";

/** The data in the hidden last line of a reply. */
export interface Marker {
  projectId: string;
  /** The request that it answers. */
  request: RequestId;
  /** Its job. `undefined`: a create or message was about to be sent, and whether it was is unknown. */
  jobId?: string | undefined;
}

/** Ids are short. A longer line would leave no room for the reply. */
const maxMarkerLength = 4096;

/** Formats the hidden last line of a reply; empty if the ids are too long. */
export function formatMarker({ projectId, jobId, request }: Marker): string {
  const job = jobId === undefined ? "pending" : `job=${encodeURIComponent(jobId)}`;
  const line = `<!-- agent-job-action project=${encodeURIComponent(projectId)} ${job} ${request} -->`;
  return line.length > maxMarkerLength ? "" : line;
}

const markerLine = /^<!-- agent-job-action project=(\S+) (?:job=(\S+)|pending) ((?:comment|review|run)=\d+) -->$/;

/** Parses the marker of a reply, which is only valid as the whole last line. */
export function parseMarker(body: string): Marker | undefined {
  const [, project, job, request] = markerLine.exec(body.split(/\r?\n/).at(-1) ?? "") ?? [];
  if (project === undefined || request === undefined) return undefined;
  try {
    const jobId = job === undefined ? undefined : decodeURIComponent(job);
    if (jobId !== undefined && !isUsableJobId(jobId)) return undefined;
    return { projectId: decodeURIComponent(project), jobId, request: request as RequestId };
  } catch {
    return undefined;
  }
}
