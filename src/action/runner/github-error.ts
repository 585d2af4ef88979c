/** Thrown when a request to GitHub fails. The message never contains the token. */
export class GitHubError extends Error {
  /** The status of the last response; `undefined` if GitHub did not respond. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined) {
    super(message);
    this.status = status;
  }
}
