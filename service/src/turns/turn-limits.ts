import type { PerProject } from "../per-project.ts";
import type { TurnLimits } from "../store/ready-turns.ts";

/**
 * Returns how many turns of each project may run.
 *
 * @param ownProjects - returns the projects whose turns may be taken; `undefined` for all. Default: all
 */
export async function turnLimits(
  projects: PerProject<{ agentsPerProject?: number | undefined }>,
  ownProjects?: () => Promise<readonly string[] | undefined>,
): Promise<TurnLimits> {
  const names = (await ownProjects?.()) ?? projects.names;
  const limitOf = (project: string): number | undefined => projects.get(project)?.agentsPerProject;
  if (names === undefined) return projects.values[0]?.agentsPerProject;
  return new Map(names.map((name) => [name, limitOf(name) ?? Number.POSITIVE_INFINITY]));
}
