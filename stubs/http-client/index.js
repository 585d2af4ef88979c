// `@actions/core` brings an HTTP client along for one thing alone, to ask for OIDC tokens, which this action never does.
// The real one loads a whole HTTP stack at the start of every step: a quarter of the time that a step of ours takes.
// `@actions/github` has the real one.

export class HttpClient {
  constructor() {
    throw new Error("OIDC tokens are not available: @actions/core has no HTTP client here, see stubs/http-client");
  }
}

export class BearerCredentialHandler {}
