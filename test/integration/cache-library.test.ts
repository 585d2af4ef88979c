import { expect, onTestFinished, test } from "vitest";
import { startCacheService } from "../support/cache-service.ts";
import { exchangeEntries } from "../support/exchange-entries.ts";

// Our client speaks the protocols of `@actions/cache`: each reads what the other has saved. A workflow runs this file with the
// library's newest version, and the smoke test does the same with GitHub's cache.

const text = `{"id":"job-1","title":"Ünïcode \\n 😀"}\n`;

test.each(["v1", "v2"] as const)(
  "what the library and our client save with %s is found by the other",
  async (protocol) => {
    const service = await startCacheService(protocol);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const environment = { PATH, NODE_COMPILE_CACHE, ...service.environment };
    expect(await exchangeEntries("a-", text, environment)).toEqual({ fromLibrary: text, byLibrary: text });
    const [theirs, ours] = service.entries;
    expect({ ...ours, key: theirs?.key }).toEqual(theirs);
  },
);
