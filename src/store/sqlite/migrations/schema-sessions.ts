/**
 * Sessions are found by the first six bytes of their hash: with a million of them the unique index on all 32 had three times the
 * pages, and each new token rewrites one of them. The unique index is part of its table, so the table is recreated; its numbers
 * stay. That a hash is there once is ensured by the writer, which alone writes and looks before.
 */
export const SESSIONS_BY_HASH_HEAD = `
  ALTER TABLE session RENAME TO session_before;
  CREATE TABLE session(
    row INTEGER PRIMARY KEY,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    org_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    links TEXT NOT NULL, -- [API ids, policy ids]
    evict_at INTEGER NOT NULL,
    sealed_key BLOB NOT NULL,
    body TEXT NOT NULL,
    family TEXT NOT NULL
  ) STRICT;
  INSERT INTO session SELECT row, hash, org_id, client_id, links, evict_at, sealed_key, body, family FROM session_before;
  DROP TABLE session_before;
  CREATE INDEX session_by_hash ON session(substr(hash, 1, 6));
  CREATE INDEX session_by_evict_at ON session(evict_at) WHERE evict_at > 0;
  CREATE INDEX session_by_family ON session(family) WHERE family <> '';
`

/** The condition that finds a session by its hash, the one value of a statement: the index is taken only by one that names its expression. */
export const OF_HASH = 'substr(hash, 1, 6) = substr(?1, 1, 6) AND hash = ?1'
