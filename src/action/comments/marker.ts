import { isUsableJobId } from "../../client/contract.ts";
import type { RequestId } from "./event.ts";

/** The data in the hidden last line of a reply. */
export interface Marker {
  projectId: string;
  /** The request that it answers. */
  request: RequestId;
  /** Its job. `undefined`: a create or message was about to be sent, and whether it was is unknown; see `isUnsent`. */
  jobId?: string | undefined;
  /** Whether it is certain that nothing was sent. Default: no. */
  isUnsent?: boolean;
}

/** A longer line would leave no room for the reply. Ids of jobs are far shorter. */
const maxMarkerLength = 16_384;

/** Formats the hidden last line of a reply; empty if the ids are too long. */
export function formatMarker({ projectId, jobId, isUnsent = false, request }: Marker): string {
  const unknown = isUnsent ? "unsent" : "pending";
  const job = jobId === undefined ? unknown : `job=${encodeURIComponent(jobId)}`;
  const line = `<!-- agent-job-action project=${encodeURIComponent(projectId)} ${job} ${request} -->`;
  return line.length > maxMarkerLength ? "" : line;
}

const markerLine =
  /^<!-- agent-job-action project=(\S+) (?:job=(\S+)|pending|(unsent)) ((?:comment|review|run)=\d+) -->$/;

/** Parses the marker of a reply, which is only valid as the whole last line. */
export function parseMarker(body: string): Marker | undefined {
  const [, project, job, unsent, request] = markerLine.exec(body.split(/\r?\n/).at(-1) ?? "") ?? [];
  if (project === undefined || request === undefined) return undefined;
  try {
    const jobId = job === undefined ? undefined : decodeURIComponent(job);
    if (jobId !== undefined && !isUsableJobId(jobId)) return undefined;
    const marker = { projectId: decodeURIComponent(project), jobId, request: request as RequestId };
    return unsent === undefined ? marker : { ...marker, isUnsent: true };
  } catch {
    return undefined;
  }
}
