import type { MachineProcess } from "../machine-process.ts";

/** What a process calls: Git's branches, refs of kept work, GitHub's API, the Actions cache, or its agent. */
export type Place = "git" | "refs" | "api" | "cache" | "agent";

/** A call that leaves a process. */
export interface Call {
  place: Place;
  isWrite: boolean;
}

/** What becomes of a call: `fails`: it has no effect. `lost`: it has its effect, and the process learns of none. */
export type Fate = "works" | "fails" | "lost";

/** Everything that leaves the processes of an attempt. */
export interface Calls {
  /** Called when one begins; returns its fate, and what follows its effect. */
  begin(call: Call): { fate: Fate; after: () => void };
}

/** How long a call takes on its way there, and back, in milliseconds. */
const wayMs = 40;

/** The calls of one process. */
export class Link {
  readonly process: MachineProcess;
  readonly #calls: Calls;

  constructor(process: MachineProcess, calls: Calls) {
    this.process = process;
    this.#calls = calls;
  }

  /** @param failure - returns the error of a call that failed, or whose answer is lost */
  call<T>(call: Call, effect: () => Promise<T> | T, failure: () => Error): Promise<T> {
    if (!this.process.isAlive) return new Promise(() => {});
    const { fate, after } = this.#calls.begin(call);
    if (!this.process.isAlive) return new Promise(() => {});
    const act = async (): Promise<T> => {
      if (fate === "fails") throw failure();
      try {
        const result = await effect();
        if (fate === "lost") throw failure();
        return result;
      } finally {
        after();
      }
    };
    return this.process.ask(wayMs, act, wayMs);
  }

  /**
   * Returns a port of which some methods are calls.
   *
   * @param methods - by their names, whether they write
   */
  wrap<Port extends object>(
    port: Port,
    place: Place,
    methods: Readonly<Partial<Record<keyof Port, boolean>>>,
    failure: (isWrite: boolean) => Error,
  ): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        const isWrite = methods[name as keyof Port];
        if (isWrite === undefined) return value.bind(target);
        return (...args: unknown[]) =>
          this.call(
            { place, isWrite },
            () => Reflect.apply(value, target, args) as unknown,
            () => failure(isWrite),
          );
      },
    });
  }
}
