import { expect, test } from "vitest";
import { repositoryName, resolveAddress } from "../../../../src/service/git/repository-address.ts";

test("passes credentials of a URL only to Git, and only for its host", () => {
  const { address, environment } = resolveAddress("https://me:p%40ss@git.example.com/acme/docs.git", "token");
  expect(address).toBe("https://git.example.com/acme/docs.git");
  expect(repositoryName(address)).toBe("https://git.example.com/acme/docs");
  expect(environment).toMatchObject({
    GIT_CONFIG_KEY_0: "http.https://git.example.com/.extraheader",
    GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${btoa("me:p@ss")}`,
  });
  expect(resolveAddress("https://github.com/acme/docs", "t").environment.GIT_CONFIG_VALUE_0).toContain(
    btoa("x-access-token:t"),
  );
  expect(resolveAddress("https://github.com/acme/docs", undefined).environment).toEqual({});
});

test.each(["git@example.com:acme/docs.git", "example.com:docs.git", "ssh://git@example.com/docs"])(
  "takes %s as a URL",
  (address) => {
    expect(resolveAddress(address, "token")).toEqual({ address, environment: {} });
  },
);

test("makes a path absolute, and names it by its file: URL", () => {
  const { address } = resolveAddress("./docs", undefined);
  expect(address).toMatch(/^\/.*\/docs$/);
  expect(repositoryName(address)).toBe(`file://${address}`);
});
