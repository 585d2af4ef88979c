import { expect, test } from "vitest";
import { connectionString } from "../../../../src/store/postgres/connection-string.ts";

test.each([
  ["postgres://db/agents", "postgres://db/agents"],
  ["postgres://db/agents?sslmode=verify-full", "postgres://db/agents?sslmode=verify-full"],
  ["postgres://a:p%40@db/agents?sslmode=require", "postgres://a:p%40@db/agents?sslmode=require&uselibpqcompat=true"],
  [
    "postgres:///agents?host=/run&sslmode=require",
    "postgres:///agents?host=%2Frun&sslmode=require&uselibpqcompat=true",
  ],
  ["postgres://a@[x/agents?sslmode=require", "postgres://a@[x/agents?sslmode=require"],
])("%s", (url, expected) => {
  expect(connectionString(url)).toBe(expected);
});
