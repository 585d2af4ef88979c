import type { PageJob } from "../model.ts";
import type { Store } from "../store/store.ts";

/** What pages read from the store. */
export interface PageStore extends Partial<Pick<Store, "keptCommits">> {
  jobs: Pick<Store["jobs"], "projectOf" | "progress"> & { find(id: string): Promise<PageJob | undefined> };
  turns: Pick<Store["turns"], "ofJob">;
  lists: Pick<
    Store["lists"],
    | "jobs"
    | "countTurns"
    | "firstTurn"
    | "latestTurns"
    | "turnExcerpt"
    | "openTurnsOf"
    | "turnsAhead"
    | "spentBy"
    | "spentIn"
    | "askers"
  >;
  pullRequests: Pick<Store["pullRequests"], "find" | "newestOf">;
}
