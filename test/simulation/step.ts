import { FakeToolkit } from "../support/fake-toolkit.ts";
import type { InternalFault } from "./scenario.ts";

/** Something that the step said, and how many requests it had sent to the service by then. */
export interface Statement {
  text: string;
  requests: number;
}

/** A runner that also records when something was said. */
export class SimulatedRunner extends FakeToolkit {
  readonly statements: Statement[] = [];
  readonly #countRequests: () => number;

  constructor(inputs: Readonly<Record<string, string>>, countRequests: () => number) {
    super(inputs);
    this.#countRequests = countRequests;
  }

  /** Records something that was said, also outside the runner. */
  says(text: string): void {
    this.statements.push({ text, requests: this.#countRequests() });
  }

  override info(line: string): void {
    super.info(line);
    this.says(line);
  }

  override annotate(...annotation: Parameters<FakeToolkit["annotate"]>): void {
    super.annotate(...annotation);
    this.says(annotation.slice(1).join(": "));
  }

  override async writeSummary(markdown: string): Promise<void> {
    await super.writeSummary(markdown);
    this.says(markdown);
  }
}

/** Throws an error on the calls that an internal fault names. */
export class FaultInjector {
  hasFailed = false;
  readonly #fault: InternalFault | undefined;
  #calls = 0;

  constructor(fault: InternalFault | undefined) {
    this.#fault = fault;
  }

  /** Returns a port whose methods may fail. */
  wrap<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function" || name !== this.#fault?.method) {
          return typeof value === "function" ? value.bind(target) : value;
        }
        return (...parameters: unknown[]) => {
          this.#call();
          return Reflect.apply(value, target, parameters);
        };
      },
    });
  }

  #call(): void {
    const { call, isPermanent } = this.#fault ?? { call: 0, isPermanent: false };
    const index = ++this.#calls;
    if (index !== call && !(isPermanent && index > call)) return;
    this.hasFailed = true;
    throw new Error("simulated internal fault");
  }
}
