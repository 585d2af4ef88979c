// Replaces the HTTP client of `@actions/core`, which uses it only to request OIDC tokens. The action requests these with
// its own transport, and loading the real client takes a quarter of the step's time. `@actions/github` uses the real one.

export class HttpClient {
  constructor() {
    throw new Error("OIDC tokens are not available: @actions/core has no HTTP client here, see stubs/http-client");
  }
}

export class BearerCredentialHandler {}
