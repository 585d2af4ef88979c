import { defineConfig } from "vitest/config";

// Real agents are slow to start, and each needs a few hundred megabytes of memory.
export default defineConfig({
  test: {
    reporters: ["verbose"],
    root: import.meta.dirname,
    include: ["**/*.test.ts"],
    testTimeout: 300_000,
    hookTimeout: 60_000,
    maxWorkers: 1,
  },
});
