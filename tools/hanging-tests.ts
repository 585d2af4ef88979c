import type { Reporter, TestCase, TestModule } from "vitest/node";

const afterMs = 90_000;

/**
 * Names a test that takes more than 90 seconds while it runs. Vitest names tests that have ended, which one never does that keeps
 * its thread busy: of that, not even the start is reported, but the test before it is.
 */
export class HangingTests implements Reporter {
  readonly #timers = new Map<string, NodeJS.Timeout>();

  onTestModuleQueued(module: TestModule): void {
    this.#watch(module, "loading");
  }

  onTestCaseReady({ module, fullName }: TestCase): void {
    this.#watch(module, `in ${fullName}`);
  }

  onTestCaseResult({ module, fullName }: TestCase): void {
    this.#watch(module, `after ${fullName}`);
  }

  onTestModuleEnd({ id }: TestModule): void {
    clearTimeout(this.#timers.get(id));
  }

  #watch({ id, relativeModuleId }: TestModule, where: string): void {
    clearTimeout(this.#timers.get(id));
    const report = (): void => void process.stderr.write(`${relativeModuleId}: for ${afterMs / 1000} s ${where}\n`);
    this.#timers.set(id, setTimeout(report, afterMs).unref());
  }
}
