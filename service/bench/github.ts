import { thisMachine } from "../src/machine.ts";
import { GitHubPullRequests } from "../src/pulls/github.ts";
import { startPullRequestServer } from "../test/support/pull-request-server.ts";
import type { Measurement } from "./measurement.ts";

const count = 1000;

/** Measures the requests of rounds that find closed pull requests on GitHub, with {@link count} pull requests. */
export async function measure(): Promise<Measurement[]> {
  const [firstOpen = 0, ...open] = await requestsOfRounds(20, true);
  const unknown = await requestsOfRounds(60, false);
  const reading = unknown.filter((requests) => requests > 2).length;
  return [
    {
      what: `requests to GitHub in a round, ${count.toLocaleString("en")} open pull requests and no change`,
      before: "11",
      now: `${Math.max(...open)}, and ${firstOpen} in a round every four hours`,
    },
    {
      what: `requests to GitHub in a round, ${count.toLocaleString("en")} pull requests that GitHub answers with 404`,
      before: "1,001",
      now: `at most ${Math.max(...unknown)} in the first ${reading} rounds, then ${Math.max(...unknown.slice(reading))}; again after an hour, 4, 16 and 24 hours`,
    },
  ];
}

/** Runs a round a minute. Returns the number of requests of each. */
async function requestsOfRounds(rounds: number, isKnown: boolean): Promise<number[]> {
  await using server = await startPullRequestServer();
  let now = 1_000_000;
  const pullRequests = new GitHubPullRequests({
    repository: { apiUrl: server.url, owner: "acme", name: "docs", token: "token_0123456789" },
    signal: new AbortController().signal,
    log: () => {},
    machine: { ...thisMachine, now: () => now },
  });
  const refs = Array.from({ length: count }, (_, index) => {
    const number = isKnown ? server.add().number : 1 + index;
    return { link: server.link(number), branch: `agent/${number}`, head: "a" };
  });
  const requests: number[] = [];
  for (let round = 0; round < rounds; round++) {
    server.requests.length = 0;
    await pullRequests.findClosed(refs);
    requests.push(server.requests.length);
    now += 60_000;
  }
  return requests;
}
