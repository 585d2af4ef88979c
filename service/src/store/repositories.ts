import type { Database } from "./sql.ts";

/** The repositories that jobs belong to, by the names that `repositoryIdentity` gives them. */
export class StoredRepositories {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the repository whose clone is in the service's folder itself; `undefined` before it is set. */
  async main(): Promise<string | undefined> {
    return (await this.#database.row<{ name: string }>("SELECT name FROM repository"))?.name;
  }

  async setMain(name: string): Promise<void> {
    await this.#database.transaction(async (transaction) => {
      await transaction.run("DELETE FROM repository");
      await transaction.run("INSERT INTO repository (name) VALUES (?)", name);
    });
  }

  /** Returns the repository of each project that has one. */
  async ofProjects(): Promise<ReadonlyMap<string, string>> {
    const sql = 'SELECT project, name FROM "projectRepository" ORDER BY project';
    const rows = await this.#database.rows<{ project: string; name: string }>(sql);
    return new Map(rows.map(({ project, name }) => [project, name]));
  }

  /** Sets the repositories of these projects. Other projects keep theirs. */
  async setOfProjects(names: ReadonlyMap<string, string>): Promise<void> {
    const set = `INSERT INTO "projectRepository" (project, name) VALUES (?, ?)
      ON CONFLICT (project) DO UPDATE SET name = excluded.name`;
    await this.#database.transaction(async (transaction) => {
      for (const [project, name] of names) await transaction.run(set, project, name);
    });
  }
}
