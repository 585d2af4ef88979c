import { isUsableJobId } from "../../client/contract.ts";
import type { RequestId } from "./event.ts";

/** A request, and which step of the workflow run handles it: each leg of a matrix is a step of its own. */
export type StepRequest = `${RequestId} step=${string}`;

/** The data in the hidden last line of a reply: the word of the newest attempt that sent, or was to send, something. */
export interface Marker {
  projectId: string;
  /** The request that it answers, and the attempt of its workflow run. */
  request: StepRequest;
  attempt: number;
  /** The hash of the prompt's template, which tells calls of a reusable workflow apart. Default: it has none. */
  call?: string | undefined;
  /** Whether it is known what was sent; `about to send`: that it was is unknown. */
  kind: "about to send" | "nothing sent" | "job";
  /** Only with `job`. */
  jobId?: string | undefined;
  /** Whether the attempt saw the agent at work, or the job end; only with `job`. */
  wasSeen?: boolean | undefined;
  /** See `Word`; only with `job`. */
  isDoubtful?: boolean | undefined;
  /** The newest commit of the job's pull request before the message; only with `job`. */
  head?: string | undefined;
}

const words = { "about to send": "pending", "nothing sent": "unsent" } as const;

/** A longer line would leave no room for the reply. Ids of jobs are far shorter. */
const maxMarkerLength = 16_384;

/** Formats the hidden last line of a reply; empty if the ids are too long. */
export function formatMarker({
  projectId,
  request,
  attempt,
  call,
  kind,
  jobId = "",
  wasSeen,
  isDoubtful,
  head,
}: Marker): string {
  const flags = `${wasSeen ? " ended" : ""}${isDoubtful ? " doubtful" : ""}`;
  const ofJob = `job=${encodeURIComponent(jobId)}${flags}${head ? ` head=${head}` : ""}`;
  const word = kind === "job" ? ofJob : words[kind];
  const line = `<!-- agent-job-action project=${encodeURIComponent(projectId)} attempt=${attempt} ${word} ${request}${call ? ` call=${call}` : ""} -->`;
  return line.length > maxMarkerLength ? "" : line;
}

const markerLine =
  /^<!-- agent-job-action project=(\S+) attempt=(\d+) (?:job=(\S+)( ended)?( doubtful)?(?: head=([0-9a-f]{40,64}))?|pending|(unsent)) ((?:comment|review|run)=\d+ step=[0-9a-f]{32})(?: call=([0-9a-f]{32}))? -->$/;

const linesOf = (body: string): string[] => body.split(/\r?\n/);

/** Parses the marker of a reply, which is only valid as the whole last line. */
export function parseMarker(body: string): Marker | undefined {
  return parseLine(linesOf(body).at(-1) ?? "");
}

/** Parses the last marker of a reply that is no longer valid, because somebody has added something below it. */
export function parseCoveredMarker(body: string): Marker | undefined {
  return parseLine(linesOf(body).findLast((line) => markerLine.test(line)) ?? "");
}

function parseLine(line: string): Marker | undefined {
  const [, project, attempt, job, ended, doubtful, head, unsent, request, call] = markerLine.exec(line) ?? [];
  if (project === undefined || request === undefined) return undefined;
  try {
    const jobId = job === undefined ? undefined : decodeURIComponent(job);
    if (jobId !== undefined && !isUsableJobId(jobId)) return undefined;
    const kind = jobId !== undefined ? "job" : unsent ? "nothing sent" : "about to send";
    return {
      projectId: decodeURIComponent(project),
      request: request as StepRequest,
      attempt: Number(attempt),
      ...(call && { call }),
      kind,
      jobId,
      ...(ended && { wasSeen: true }),
      ...(doubtful && { isDoubtful: true }),
      ...(head && { head }),
    };
  } catch {
    return undefined;
  }
}
