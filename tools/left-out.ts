import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

/** Says at the end how many tests were skipped on this machine, and why, as far as their names say it. */
export class LeftOut implements Reporter {
  #isPart = false;

  onInit({ config }: Vitest): void {
    this.#isPart = config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // Those with another name are skipped, too.
    if (this.#isPart) return;
    const counts = new Map<string, number>();
    for (const module of modules)
      for (const test of module.children.allTests("skipped")) {
        const why = reasonOf(test);
        counts.set(why, (counts.get(why) ?? 0) + 1);
      }
    for (const [why, count] of counts) console.log(`Left out on this machine: ${count} tests: ${why}`);
  }
}

function reasonOf({ fullName }: TestCase): string {
  const [, reason] = /skipped: (.*?)(?:\. |\)? > |\)?$)/.exec(fullName) ?? [];
  return reason ?? "they are for another system, user or program";
}
