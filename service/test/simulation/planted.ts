/** A mistake in the sources of the service or of the simulation's queue, which the simulation has to find. */
export interface PlantedFault {
  name: string;
  /** The texts that are replaced, each found once in a file of `service`. */
  edits: readonly { file: string; from: string; to: string }[];
}

const queue = "test/simulation/leased-turns.ts";
const runningTurns = "src/store/running-turns.ts";

const unfenced = [
  {
    file: runningTurns,
    from: 'WHERE id = ? AND lease = ?", id, lease))',
    to: 'WHERE id = ? AND ? IS NOT NULL", id, lease))',
  },
  { file: queue, from: 'AND takes = ? AND isTaken"', to: 'AND takes >= ?"' },
];

export const plantedFaults: readonly PlantedFault[] = [
  {
    name: "no fencing in the store",
    edits: [...unfenced, { file: queue, from: "return count > 0;", to: "return true;" }],
  },
  { name: "an unconditional finish", edits: unfenced },
  {
    name: "no check of the owner before a push, which is forced",
    edits: [
      { file: runningTurns, from: "if (!(await this.renewLease(turn))) throw", to: "if (!turn) throw" },
      { file: "test/simulation/remote.ts", from: "if (!isAllowed) throw", to: "if (!isAllowed && !branch) throw" },
    ],
  },
  {
    name: "each worker requeues everything when it starts",
    edits: [
      {
        file: queue,
        from: "recover(_transaction: Transaction): Promise<{ id: number; job: string }[]> {\n    return [];",
        to: `recover(_transaction: Transaction): Promise<{ id: number; job: string }[]> {
          await _transaction.run("UPDATE queued SET isTaken = 0");
          return _transaction.rows("UPDATE turn SET state = 'waiting', lease = NULL WHERE state = 'running' RETURNING id, job");`,
      },
    ],
  },
  {
    name: "a take that is not atomic",
    edits: [
      {
        file: queue,
        from: 'return this.#next("") !== undefined;',
        to: 'return (this.candidate = this.#next("")) !== undefined;',
      },
      {
        file: queue,
        from: "const id = this.#next(limits",
        to: "const id = this.candidate ?? this.#next(limits",
      },
    ],
  },
  {
    name: "no polling",
    edits: [
      { file: queue, from: "this.#announce();\n      if (expires)", to: "if (expires)" },
      { file: queue, from: "before);\n    this.#announce();", to: "before);" },
    ],
  },
];
