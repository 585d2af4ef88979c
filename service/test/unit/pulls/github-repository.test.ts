import { expect, test } from "vitest";
import { gitHubOf, hostOf } from "../../../src/pulls/github/github-repository.ts";

test.each([
  ["https://github.com", "github.com"],
  ["https://acme.ghe.com", "acme.ghe.com"],
  ["https://api.example.com:8443", "api.example.com"],
])("the host of the API of %s is %s", (server, host) => {
  expect(hostOf(gitHubOf({ GITHUB_SERVER_URL: server }).apiUrl)).toBe(host);
});
