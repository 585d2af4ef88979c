import { expect, test } from "vitest";
import { machineProxy } from "../../../../src/agents/network/machine-proxy.ts";

const proxy = "http://proxy:3128";

test.each<[string, NodeJS.ProcessEnv, string | undefined]>([
  ["https://model.example", {}, undefined],
  ["https://model.example", { HTTPS_PROXY: proxy }, "http://proxy:3128/"],
  ["https://model.example", { https_proxy: proxy, HTTPS_PROXY: "http://other" }, "http://proxy:3128/"],
  ["https://model.example", { https_proxy: "", HTTPS_PROXY: " proxy:3128 " }, "http://proxy:3128/"],
  ["https://model.example", { HTTPS_PROXY: "HTTPS://me:p%40ss@proxy" }, "https://me:p%40ss@proxy/"],
  ["https://model.example", { HTTP_PROXY: proxy, ALL_PROXY: proxy }, undefined],
  ["http://model.example", { HTTP_PROXY: proxy }, "http://proxy:3128/"],
  ["http://model.example", { HTTPS_PROXY: proxy }, undefined],
  ["http://localhost:4000", { HTTP_PROXY: proxy }, undefined],
  ["http://127.0.0.1:4000", { HTTP_PROXY: proxy }, undefined],
  ["http://[::1]:4000", { HTTP_PROXY: proxy }, undefined],
  ["https://127.example.com", { HTTPS_PROXY: proxy }, "http://proxy:3128/"],
])("%s with %j goes through %s", (url, environment, expected) => {
  expect(machineProxy(new URL(url), environment)?.href).toBe(expected);
});

test.each<[string, string, boolean]>([
  ["https://model.example", "*", true],
  ["https://model.example", "model.example", true],
  ["https://model.example", "other.example, MODEL.example", true],
  ["https://eu.model.example", "model.example", true],
  ["https://eu.model.example", ".model.example", true],
  ["https://eu.model.example", "*.model.example", true],
  ["https://mymodel.example", "model.example", false],
  ["https://model.example.org", "model.example", false],
  ["https://model.example", "model.example:443", true],
  ["https://model.example:8443", "model.example:443", false],
  ["http://model.example", "model.example:80", true],
  ["https://10.1.2.3", "10.0.0.0/8", true],
  ["https://11.1.2.3", "10.0.0.0/8", false],
  ["https://10.model.example", "10.0.0.0/8", false],
  ["https://model.example", "10.0.0.0/99 ,, model", false],
])("%s with NO_PROXY=%s needs no proxy: %j", (url, noProxy, isDirect) => {
  const environment = { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: noProxy };
  expect(machineProxy(new URL(url), environment) === undefined).toBe(isDirect);
});

test.each(["socks5://me:s3cret@proxy", "http://me:s3cret@[", "http://me:s3cret%@proxy"])(
  "%s is no address, and is not quoted",
  (address) => {
    const read = () => machineProxy(new URL("https://model.example"), { HTTPS_PROXY: address });
    expect(read).toThrow(/^the variable https_proxy has no address of an http or https proxy$/);
  },
);
