import { expect, test } from "vitest";
import { repositoryName, resolveAddress } from "../../../../src/service/git/repository-address.ts";

test("passes credentials of a URL only to Git, and only for its host", () => {
  const { address, settings } = resolveAddress("https://me:p%40ss@git.example.com/acme/docs.git", "token");
  expect(address).toBe("https://git.example.com/acme/docs.git");
  expect(repositoryName(address)).toBe("https://git.example.com/acme/docs");
  const header = (credentials: string) => `AUTHORIZATION: basic ${btoa(credentials)}`;
  expect(settings).toEqual([["http.https://git.example.com/.extraheader", header("me:p@ss")]]);
  expect(resolveAddress("https://github.com/acme/docs", "t").settings).toEqual([
    ["http.https://github.com/.extraheader", header("x-access-token:t")],
  ]);
  expect(resolveAddress("https://github.com/acme/docs", undefined).settings).toEqual([]);
});

test.each(["git@example.com:acme/docs.git", "example.com:docs.git", "ssh://git@example.com/docs"])(
  "takes %s as a URL",
  (address) => {
    expect(resolveAddress(address, "token")).toEqual({ address, settings: [] });
  },
);

test("makes a path absolute, and names it by its file: URL", () => {
  const { address } = resolveAddress("./docs", undefined);
  expect(address).toMatch(/^\/.*\/docs$/);
  expect(repositoryName(address)).toBe(`file://${address}`);
});
