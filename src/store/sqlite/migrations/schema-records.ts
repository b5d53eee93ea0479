/**
 * The country becomes one more dimension of hits, and single requests are kept. The unique index of the dimensions is part of
 * their table, so the table is recreated; its numbers stay.
 */
export const COUNTRY_AND_RECORDS = `
  ALTER TABLE hit_dimension RENAME TO hit_dimension_before;
  CREATE TABLE hit_dimension(
    row INTEGER PRIMARY KEY,
    org_id TEXT NOT NULL,
    api_id TEXT NOT NULL,
    version TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    alias TEXT NOT NULL,
    client_id TEXT NOT NULL,
    tags TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    country TEXT NOT NULL,
    UNIQUE (key_hash, api_id, org_id, version, endpoint, client_id, alias, tags, country)
  ) STRICT;
  INSERT INTO hit_dimension
    SELECT row, org_id, api_id, version, key_hash, alias, client_id, tags, endpoint, '' FROM hit_dimension_before;
  DROP TABLE hit_dimension_before;

  -- AUTOINCREMENT: followers by number must not see a number reused.
  CREATE TABLE record(
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    org_id TEXT NOT NULL,
    api_id TEXT NOT NULL,
    status INTEGER NOT NULL,
    method TEXT NOT NULL,
    key_hash TEXT NOT NULL,
    client_id TEXT NOT NULL,
    tags TEXT NOT NULL, -- between commas
    path TEXT NOT NULL,
    fields TEXT NOT NULL -- the rest, as JSON
  ) STRICT;
  -- Holds all that a search looks at, so that it never reads the rows themselves.
  CREATE INDEX record_search ON record(at, org_id, api_id, status, method, key_hash, client_id, tags, path);

  -- Heads and bodies, of the few requests that are recorded whole.
  CREATE TABLE record_detail(
    record INTEGER PRIMARY KEY,
    request BLOB NOT NULL,
    response BLOB NOT NULL
  ) STRICT;

  -- Requests that were left out because too many came, or that could not be stored.
  CREATE TABLE record_dropped(
    minute INTEGER NOT NULL, -- since 1970
    org_id TEXT NOT NULL,
    api_id TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (minute, org_id, api_id)
  ) STRICT, WITHOUT ROWID;
`

/**
 * Records are found by the id of their request, whatever their age. Those that are stored already have it among their other
 * fields.
 */
export const RECORD_REQUEST_IDS = `
  ALTER TABLE record ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
  UPDATE record SET request_id = coalesce(json_extract(fields, '$.request_id'), '');
  CREATE INDEX record_by_request_id ON record(request_id) WHERE request_id <> '';
`
