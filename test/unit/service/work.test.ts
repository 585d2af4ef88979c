import { expect, test } from "vitest";
import { repositoryName, resolveAddress } from "../../../src/service/git/repository-address.ts";
import { titleOf } from "../../../src/service/jobs/commit-title.ts";

test("credentials in an address are told to Git alone, for its host", () => {
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
  "%s is an address",
  (address) => {
    expect(resolveAddress(address, "token")).toEqual({ address, environment: {} });
  },
);

test("a path is made absolute, and named as a file", () => {
  const { address } = resolveAddress("./docs", undefined);
  expect(address).toMatch(/^\/.*\/docs$/);
  expect(repositoryName(address)).toBe(`file://${address}`);
});

test("a prompt becomes a title of one short line", () => {
  expect(titleOf("\n  \u0007Fix\u202e the links \nand more")).toBe("Fix the links");
  expect(titleOf(" \n")).toBe("Change the documentation");
  const long = titleOf(`Bring ${"the pages ".repeat(20)}up to date`);
  expect(long.length).toBeLessThanOrEqual(72);
  expect(long).toMatch(/ (the|pages)…$/);
});
