import { expect, test } from "vitest";
import { shellAgent } from "../../../src/agents/agent.ts";
import { agentEnvironment, certificateFiles } from "../../../src/agents/environment.ts";

const agent = {
  ...shellAgent("agent"),
  passes: ["MODEL_KEY", "NOT_SET"],
  environment: { MODE: "agent", TERM: "xterm" },
};

test("gives an agent what programs need, what the agent needs, and nothing else", () => {
  const needed = {
    PATH: "/bin",
    LANG: "C",
    LANGUAGE: "en",
    LC_ALL: "C",
    TZ: "UTC",
    USER: "me",
    LOGNAME: "me",
    SHELL: "/bin/sh",
    HTTP_PROXY: "http://proxy",
    https_proxy: "http://me:secret@proxy",
    ALL_PROXY: "http://proxy",
    no_proxy: "localhost",
    NODE_EXTRA_CA_CERTS: "/ca.pem",
    MODEL_KEY: "key",
  };
  const secret = {
    MY_PATH: "x",
    PATH_X: "x",
    MY_HTTP_PROXY: "x",
    HTTP_PROXY_PASSWORD: "x",
    Http_Proxy: "x",
    GITHUB_TOKEN: "x",
  };
  expect(
    agentEnvironment(agent, { ...needed, ...secret, MODEL_KEY: " key\n", MODE: "service", NOT_SET: undefined }, {}),
  ).toStrictEqual({
    ...needed,
    MODE: "agent",
    TERM: "xterm",
  });
});

test("lets what the job sets win over all else", () => {
  const { environment, ...other } = agent;
  expect(agentEnvironment({ ...other, environment: {} }, {}, {})).toEqual({ TERM: "dumb" });
  expect(agentEnvironment(agent, { PATH: "/bin" }, { PATH: "/job", MODE: "job" })).toEqual({
    PATH: "/job",
    MODE: "job",
    TERM: environment.TERM,
  });
});

test("finds the files with certificates", () => {
  const environment = { NODE_EXTRA_CA_CERTS: "/ca.pem", SSL_CERT_DIR: "certs", SSL_CERT_FILE: "", OTHER: "/other" };
  expect(certificateFiles(environment)).toEqual(["/ca.pem", `${process.cwd()}/certs`]);
});
