import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Says at the end how many tests were skipped on this machine, and why, as far as their names say it. */
export class LeftOut implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>();
    for (const module of modules)
      for (const test of module.children.allTests("skipped")) {
        // A run of one test, or of those with a word, skips the others.
        if (test.options.mode !== "skip") continue;
        const why = reasonOf(test);
        counts.set(why, (counts.get(why) ?? 0) + 1);
      }
    for (const [why, count] of counts) console.log(`Left out on this machine: ${count} tests: ${why}`);
  }
}

function reasonOf({ fullName }: TestCase): string {
  const [, reason] = /skipped: (.*?)(?:\)? > |\)?$)/.exec(fullName) ?? [];
  return reason ?? "they are for another system, user or program";
}
