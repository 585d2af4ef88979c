import { defineConfig } from "vitest/config";

// Windows has neither signals nor process groups, and no POSIX shell, which the service needs to run agents. The runner's
// images for it have their own `tar`, other machines may not.
const posix = [
  "test/e2e/signals.test.ts",
  "test/e2e/{hostile-agent,service}.test.ts",
  "test/integration/agent-{limits,network,results,service}.test.ts",
  "test/integration/{cache,commit-content,git,git-isolation,github-service,limits,merge-states,model-proxy,processes}.test.ts",
  "test/integration/{cache-entries,clone,job-branch,job-copies,kept-worktrees,packing,repository,resource-exhausted,submodules,turn-start}.test.ts",
  "test/integration/service-{state,store}.test.ts",
  "test/integration/{postgres-*,store-behaviour}.test.ts",
  "test/unit/service/{agents,git,jobs}/**/*.test.ts",
  "test/unit/service-step/*.test.ts",
];

// The service's step does not run on other systems.
const linux = ["test/e2e/service-step*.test.ts"];

const excluded = [
  // `npm run test:agents` runs the real agents, `npm run test:browser` a real browser.
  "test/{agents,browser}/**",
  ...(process.platform === "win32" ? posix : []),
  ...(process.platform === "linux" ? [] : linux),
];
const unit = "test/unit/**/*.test.ts";

export default defineConfig({
  test: {
    testTimeout: 60_000,
    // Tests of whole processes mostly wait for them: more workers than cores.
    maxWorkers: 6,
    projects: [
      // A process for each of these files would take as long as the tests.
      { extends: true, test: { name: "unit", include: [unit], exclude: excluded, isolate: false } },
      { extends: true, test: { name: "processes", include: ["test/**/*.test.ts"], exclude: [...excluded, unit] } },
    ],
  },
});
