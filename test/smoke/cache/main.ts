import { exchangeEntries } from "../../support/exchange-entries.ts";

// Checks with GitHub's own cache that our client reads what `@actions/cache` saved, and the other way round.

const { GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT, RUNNER_OS, RUNNER_ARCH } = process.env;
const text = `{"title":"Ünïcode \\n 😀"}`;
const prefix = `smoke-${GITHUB_RUN_ID}-${GITHUB_RUN_ATTEMPT}-${RUNNER_OS}-${RUNNER_ARCH}-`;
const { fromLibrary, byLibrary } = await exchangeEntries(prefix, text, process.env);
console.log(
  `Ours restored of the library: ${fromLibrary === text}. The library restored of ours: ${byLibrary === text}.`,
);
if (fromLibrary !== text || byLibrary !== text) process.exitCode = 1;
