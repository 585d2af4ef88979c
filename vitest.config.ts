import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    // Tests of whole processes mostly wait for them: more workers than cores.
    maxWorkers: 4,
  },
});
