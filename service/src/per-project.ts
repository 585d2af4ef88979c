import { errorMessage } from "./error-message.ts";

/** Returns a function whose calls share a result that is awaited already. */
export function shared(use: () => Promise<void>): () => Promise<void> {
  let pending: Promise<void> | undefined;
  return () => {
    pending ??= use().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

/** Stands for every project. */
const anyProject = Symbol("any project");

/** A value for each project: one for each of a configuration, or the same for all projects, whatever they are called. Immutable. */
export class PerProject<T> {
  readonly #values: ReadonlyMap<string | typeof anyProject, T>;

  private constructor(values: ReadonlyMap<string | typeof anyProject, T>) {
    this.#values = values;
  }

  /** The same value for all projects, also for those that are only in the store. */
  static same<T>(value: T): PerProject<T> {
    return new PerProject(new Map([[anyProject, value]]));
  }

  /** Values by the names of their projects. All other projects are unknown. */
  static of<T>(values: ReadonlyMap<string, T>): PerProject<T> {
    return new PerProject(new Map(values));
  }

  /** The projects; `undefined` if there is a value for any. */
  get names(): readonly string[] | undefined {
    const names = [...this.#values.keys()];
    return names.every((name) => name !== anyProject) ? names : undefined;
  }

  /** The value of each project, each value once. */
  get values(): readonly T[] {
    return [...new Set(this.#values.values())];
  }

  /** Returns `undefined` if the project is unknown. */
  get(project: string): T | undefined {
    return this.#values.get(project) ?? this.#values.get(anyProject);
  }

  /** Maps each value. */
  map<U>(change: (value: T) => U): PerProject<U> {
    return new PerProject(new Map([...this.#values].map(([project, value]) => [project, change(value)])));
  }

  /** Maps the values one after another. An error names its project, unless all projects share the value. */
  async mapInOrder<U>(change: (value: T) => U | Promise<U>): Promise<PerProject<U>> {
    const changed = new Map<string | typeof anyProject, U>();
    for (const [project, value] of this.#values)
      try {
        changed.set(project, await change(value));
      } catch (error) {
        if (project === anyProject) throw error;
        throw new Error(`project ${project}: ${errorMessage(error)}`, { cause: error });
      }
    return new PerProject(changed);
  }

  /** Combines each value with that which another one of the same projects has. */
  with<U, V>(other: PerProject<U>, combine: (value: T, otherValue: U) => V): PerProject<V> {
    const combined = new Map<string | typeof anyProject, V>();
    for (const [project, value] of this.#values) {
      const otherValue = other.#values.get(project);
      if (otherValue === undefined) throw new Error(`nothing for ${String(project)} to combine with`);
      combined.set(project, combine(value, otherValue));
    }
    return new PerProject(combined);
  }
}
