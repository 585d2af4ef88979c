/** What the service tells of a job, in the form of the wire. Specification: "Agent job". */
export interface JobRecord {
  id: string;
  status: "active" | "completed" | "archived" | "failed";
  source: { repository: string; ref: string | null };
  model: string;
  prLink: string | null;
  createdAt: string;
  archivedAt: string | null;
}

/** What does the work of the jobs; the HTTP face knows nothing else of it. A job belongs to one project. */
export interface Engine {
  create(projectId: string, prompt: string): JobRecord;
  /** Makes the job work again; `undefined` where the project has no such job. */
  message(projectId: string, jobId: string, prompt: string): JobRecord | undefined;
  /** `undefined` where the project has no such job. */
  get(projectId: string, jobId: string): JobRecord | undefined;
}
