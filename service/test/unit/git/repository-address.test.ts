import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { repositoryName, resolveAddress } from "../../../src/git/repository-address.ts";

test("passes credentials of a URL only to Git, and only for its host", () => {
  const { address, settings } = resolveAddress("https://me:p%40ss@git.example.com/acme/docs.git", () => "token");
  expect(address).toBe("https://git.example.com/acme/docs.git");
  expect(repositoryName(address)).toBe("https://git.example.com/acme/docs");
  const header = (credentials: string) => `AUTHORIZATION: basic ${btoa(credentials)}`;
  expect(settings()).toEqual([["http.https://git.example.com/.extraheader", header("me:p@ss")]]);
  expect(resolveAddress("https://github.com/acme/docs", () => "t").settings()).toEqual([
    ["http.https://github.com/.extraheader", header("x-access-token:t")],
  ]);
  expect(resolveAddress("https://github.com/acme/docs", undefined).settings()).toEqual([]);
});

test("passes a token as it is when Git is run", () => {
  let token = "old";
  const { settings } = resolveAddress("https://github.com/acme/docs", () => token);
  token = "new";
  expect(settings()[0]?.[1]).toBe(`AUTHORIZATION: basic ${btoa("x-access-token:new")}`);
});

test("passes the credentials of an http: URL too", () => {
  const { address, settings } = resolveAddress("http://me:pw@example.com:8080/docs", undefined);
  expect(address).toBe("http://example.com:8080/docs");
  expect(settings()).toEqual([["http.http://example.com:8080/.extraheader", `AUTHORIZATION: basic ${btoa("me:pw")}`]]);
});

test.each([
  "git@example.com:acme/docs.git",
  "example.com:docs.git",
  "ssh://git@example.com/docs",
  "xhttp://example.com/docs",
  "https-helper://example.com/docs",
  "https://[invalid",
])("takes %s as a URL", (address) => {
  const resolved = resolveAddress(address, () => "token");
  expect([resolved.address, resolved.settings()]).toEqual([address, []]);
});

test("removes only a .git at the end from the name", () => {
  expect(repositoryName("https://example.com/my.gitops/docs")).toBe("https://example.com/my.gitops/docs");
});

test("makes a path absolute, and names it by its file: URL", () => {
  const resolved = resolveAddress("./a:b", () => "token");
  expect([resolved.address, resolved.settings()]).toEqual([`${process.cwd()}/a:b`, []]);
  const { address } = resolveAddress("./docs", undefined);
  expect(address).toMatch(/^\/.*\/docs$/);
  expect(repositoryName(address)).toBe(pathToFileURL(address).href);
  expect(repositoryName("/srv/my docs/é")).toBe("file:///srv/my%20docs/%C3%A9");
});
