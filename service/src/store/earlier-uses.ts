/**
 * For migrations from a schema with a table of the creates and messages that count for the hourly limits: moves their times to the newest
 * turns of their project. There are at most as many of them as turns, unless jobs were deleted or restored from copies.
 */
export const moveUsesToTurns = `
  UPDATE turn SET "acceptedAt" = used.at, "acceptedAs" = used.kind FROM (
    SELECT added.id, use.kind, use.at
    FROM (
      SELECT newest.*, row_number() OVER (PARTITION BY project, kind ORDER BY id DESC) AS position
      FROM (
        SELECT id, project, CASE WHEN EXISTS (SELECT 1 FROM turn AS earlier WHERE earlier.job = turn.job AND earlier.id < turn.id)
          THEN 'message' ELSE 'create' END AS kind
        FROM turn ORDER BY id DESC LIMIT (SELECT 1000 + count(*) FROM use)
      ) AS newest
    ) AS added
    JOIN (SELECT use.*, row_number() OVER (PARTITION BY project, kind ORDER BY at DESC) AS position FROM use) AS use
      ON use.project = added.project AND use.kind = added.kind AND use.position = added.position
  ) AS used WHERE turn.id = used.id;
  DROP TABLE use;
`;
