import { postgresSearch } from "../text-search.ts";

/** The version of the tables below and of pg-boss's: raise it with each change of either, see CONTRIBUTING. */
export const schemaVersion = 15;

/** The version of pg-boss's schema. */
export const queueSchema = 43;

/** Creates the tables in an empty schema, which is the `search_path`. */
export const tables = `
  CREATE TABLE job (
    id text PRIMARY KEY, project text NOT NULL, "createdAt" bigint NOT NULL, "archivedAt" bigint,
    state text NOT NULL DEFAULT 'active', "idleSince" bigint, "pullRequest" text, head text, model text, base text, kept text,
    session text, branch text NOT NULL,
    -- When the branch of the archived job is looked at next, to delete it. NULL: it is gone.
    "branchDueAt" bigint
  );
  CREATE INDEX "idleJob" ON job ("idleSince") WHERE "idleSince" IS NOT NULL;
  CREATE INDEX "unarchivedJob" ON job ("idleSince") WHERE "idleSince" IS NOT NULL AND "archivedAt" IS NULL;
  CREATE INDEX "unarchivedPullRequest" ON job ("idleSince", id)
    WHERE "idleSince" IS NOT NULL AND "archivedAt" IS NULL AND "pullRequest" IS NOT NULL;
  CREATE INDEX "dueBranch" ON job ("branchDueAt", id) WHERE "archivedAt" IS NOT NULL AND "pullRequest" IS NOT NULL;
  CREATE INDEX "unarchivedBase" ON job (base) WHERE base IS NOT NULL AND "archivedAt" IS NULL;
  -- Lists of jobs, newest first: all, by project, and by status.
  CREATE INDEX "jobByAge" ON job ("createdAt", id);
  CREATE INDEX "jobOfProject" ON job (project, "createdAt", id);
  CREATE INDEX "jobOfSession" ON job (project, session, "createdAt") WHERE session IS NOT NULL;
  CREATE INDEX "jobByStatus" ON job ((CASE WHEN "archivedAt" IS NULL THEN state ELSE 'archived' END), "createdAt", id);

  CREATE TABLE turn (
    id bigint PRIMARY KEY, identity text NOT NULL, job text NOT NULL REFERENCES job, prompt text NOT NULL,
    "promptHash" text NOT NULL DEFAULT '',
    sections text NOT NULL DEFAULT '', asked text, asker text NOT NULL DEFAULT '', covers text,
    state text NOT NULL DEFAULT 'waiting', attempts integer NOT NULL DEFAULT 0, "startedAt" bigint, "endedAt" bigint,
    answer text, reason text, head text, kept text, "stopRequestedAt" bigint, "costUsd" double precision, "sessionCost" text,
    "failureClass" text, "checkResult" text, "checkOutput" text,
    stage text, made text,
    -- While it is running: the token of the worker that took it, and from when on others may take it over.
    lease text, "leaseUntil" bigint,
    -- Its place in the order of starts, and from when on it can be taken; NULL if it cannot.
    rank bigint, "readyAt" bigint,
    -- Why it was put back, and until when; NULL if it was not, or was taken since.
    "waitReason" text, "waitUntil" bigint,
    project text NOT NULL, caller text NOT NULL, step text NOT NULL, request text NOT NULL,
    -- How it was accepted, by which the hourly limit counts it. A copy does not count.
    "acceptedAs" text, "acceptedAt" bigint
  );
  -- With what lists add up.
  CREATE INDEX "turnByJob" ON turn (job, id) INCLUDE ("startedAt", "endedAt", "costUsd");
  CREATE INDEX "turnPutBack" ON turn (job) WHERE "waitReason" IS NOT NULL;
  CREATE INDEX "turnByAsker" ON turn (project, asker, job);
  CREATE INDEX "turnByEnd" ON turn (project, "endedAt") INCLUDE ("startedAt", "costUsd") WHERE "endedAt" IS NOT NULL;
  CREATE INDEX "openTurn" ON turn (state) WHERE state IN ('waiting', 'running');
  CREATE UNIQUE INDEX "turnByKey" ON turn (project, caller, step, request);
  CREATE INDEX "acceptedTurn" ON turn (project, "acceptedAs", "acceptedAt") WHERE "acceptedAt" IS NOT NULL;
  CREATE SEQUENCE "turnId";

  -- The words of turns, of what pages show of their texts. Beside them, where few pages have many, and a turn that changes does not write them again.
  CREATE TABLE "turnText" (turn bigint PRIMARY KEY REFERENCES turn ON DELETE CASCADE, job text NOT NULL, words tsvector NOT NULL);
  CREATE INDEX "turnTextOfJob" ON "turnText" (job);
  CREATE INDEX "turnWord" ON "turnText" USING gin (words);
  CREATE FUNCTION "setTurnText"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
    BEGIN
      INSERT INTO "turnText" VALUES (new.id, new.job, ${postgresSearch.words("new.prompt", "new.reason")})
        ON CONFLICT (turn) DO UPDATE SET words = excluded.words;
      RETURN NULL;
    END
  $$;
  CREATE TRIGGER "turnSaid" AFTER INSERT OR UPDATE OF prompt, reason ON turn FOR EACH ROW EXECUTE FUNCTION "setTurnText"();

  -- The last rank of each project, that of the turn that was started last, and when the branches of archived jobs are looked at next.
  CREATE TABLE project (name text PRIMARY KEY, "lastRank" bigint NOT NULL, "branchesDueAt" bigint NOT NULL DEFAULT 0);
  CREATE TABLE "lastStart" (rank bigint NOT NULL);
  INSERT INTO "lastStart" VALUES (0);
  -- When expired leases were looked for last, and since when that has happened without a gap.
  CREATE TABLE supervision (at bigint NOT NULL, since bigint NOT NULL);
  INSERT INTO supervision VALUES (0, 0);

  CREATE TABLE "pullRequest" (
    number integer GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, job text NOT NULL REFERENCES job, title text NOT NULL,
    branch text NOT NULL, target text NOT NULL, base text NOT NULL, head text NOT NULL
  );
  CREATE INDEX "pullRequestOfJob" ON "pullRequest" (job);

  -- The logs of jobs. \`start\` is a position in the log of the job, in bytes.
  CREATE TABLE "logChunk" (
    job text NOT NULL REFERENCES job ON DELETE CASCADE, start bigint NOT NULL, turn bigint NOT NULL,
    content bytea NOT NULL, at bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, PRIMARY KEY (job, start)
  );
  -- The packed home directories of agents, with the identities of the turns that left them.
  CREATE TABLE home (job text PRIMARY KEY REFERENCES job ON DELETE CASCADE, turn text NOT NULL, archive bytea NOT NULL);
  -- It is compressed already.
  ALTER TABLE home ALTER COLUMN archive SET STORAGE EXTERNAL;
  -- The last commit of each job that is not pushed, packed.
  CREATE TABLE "keptCommit" (job text PRIMARY KEY REFERENCES job ON DELETE CASCADE, packed bytea NOT NULL);
  -- What the tokens of browsers stand for: sessions, and links that start one.
  CREATE TABLE token (
    hash text PRIMARY KEY, kind text NOT NULL, path text NOT NULL, "expiresAt" timestamptz NOT NULL
  );
  CREATE INDEX "tokenByExpiry" ON token ("expiresAt");

  -- Deleted jobs whose files are not removed yet.
  CREATE TABLE "deletedJob" (id text PRIMARY KEY);

  -- At most one row: the repository whose clone is in the folder of a service itself.
  CREATE TABLE repository (name text NOT NULL);
  -- The repository that the jobs of each project belong to.
  CREATE TABLE "projectRepository" (project text PRIMARY KEY, name text NOT NULL);

  -- A process that lost the connection while a transaction was committed finds out here whether it was, or prevents it.
  CREATE TABLE "recentCommit" (
    id uuid PRIMARY KEY, at timestamptz NOT NULL DEFAULT now(), "wasPrevented" boolean NOT NULL DEFAULT false
  );
  CREATE INDEX "oldCommit" ON "recentCommit" (at);

  -- One row: \`schemaVersion\` of the service that has created the tables.
  CREATE TABLE version (schema integer NOT NULL);
`;
