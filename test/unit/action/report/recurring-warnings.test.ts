import { expect, test } from "vitest";
import { pollsReturn, record, respondWith, runMain } from "../../../support/run-main.ts";

test("only five warnings are about the connection, so that there is room for others", async () => {
  const polls = Array.from({ length: 14 }, (_, index) =>
    index % 2 === 0 ? respondWith(502) : respondWith(200, record()),
  );
  const { toolkit } = await runMain({
    inputs: { "timeout-minutes": "10" },
    respond: ({ method }) =>
      method === "POST" ? respondWith(201, record()) : (polls.shift() ?? respondWith(200, record())),
  });
  expect(toolkit.annotations.filter(({ title }) => title === "Polling is failing")).toHaveLength(5);
});

test("one warning is about an invalid link, however often it is returned", async () => {
  const link = record({ prLink: "javascript:1" });
  const { toolkit } = await runMain({ respond: pollsReturn(link, link, record({ status: "completed", prLink: "x" })) });
  expect(toolkit.annotations.filter(({ title }) => title === "Invalid pull request link")).toHaveLength(1);
});

test("one warning is about an invalid link in the first record", async () => {
  const { toolkit } = await runMain({
    inputs: { prompt: "", "job-id": "job_1" },
    respond: () => respondWith(200, record({ status: "completed", prLink: "javascript:1" })),
  });
  expect(toolkit.annotations.filter(({ title }) => title === "Invalid pull request link")).toEqual([
    {
      level: "warning",
      title: "Invalid pull request link",
      text: "The service returned javascript:1 as the pull request, which is not an http(s) URL without credentials. Ignored.",
    },
  ]);
});
