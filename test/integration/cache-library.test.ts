import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { connectCache } from "../../src/runner-kit/connect-cache.ts";
import { startCacheService } from "../support/cache-service.ts";
import { root } from "../support/metadata.ts";
import { temporaryFolder } from "../support/step.ts";

// Our client speaks the protocols of `@actions/cache`: each reads what the other has saved. A workflow runs this file with the
// library's newest version.

const program = resolve(root, "test/support/library-cache.ts");
const text = `{"id":"job-1","title":"Ünïcode \\n 😀"}\n`;

test.each(["v1", "v2"] as const)(
  "what the library and our client save with %s is found by the other",
  async (protocol) => {
    const service = await startCacheService(protocol);
    onTestFinished(() => service[Symbol.asyncDispose]());
    const library = async (...args: string[]): Promise<string> => {
      const { PATH, NODE_COMPILE_CACHE } = process.env;
      const env = { PATH, NODE_COMPILE_CACHE, ...service.environment };
      const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, temporaryFolder()], { env });
      return stdout.trimEnd().split("\n").at(-1) ?? "";
    };
    const cache = connectCache(service.environment);

    await library("save", "a-1", text);
    await cache.save("b-1", text);
    expect(await cache.restore("a-")).toBe(text);
    expect(JSON.parse(await library("restore", "b-", ""))).toBe(text);
    const [theirs, ours] = service.entries;
    expect({ ...ours, key: "a-1" }).toEqual(theirs);
  },
);
