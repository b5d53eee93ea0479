-- The schema of version 1, as stores of that version have it. It never changes.
CREATE TABLE store_state(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  revision INTEGER NOT NULL,
  last_group TEXT NOT NULL,
  declared TEXT NOT NULL
) STRICT;
INSERT INTO store_state VALUES (1, 0, '[]', '');

CREATE TABLE document(
  row INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (kind, id)
) STRICT;

CREATE TABLE document_index(
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  slot TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (kind, name, value, slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_index_by_id ON document_index(kind, id, name, value);

CREATE TABLE audit(
  row INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  org_id TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_org ON audit(org_id, at);

CREATE TABLE session(
  row INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  org_id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  links TEXT NOT NULL,
  evict_at INTEGER NOT NULL,
  sealed_key BLOB NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX session_by_evict_at ON session(evict_at) WHERE evict_at > 0;

CREATE TABLE session_ref(
  sort INTEGER NOT NULL,
  value TEXT NOT NULL,
  session INTEGER NOT NULL,
  PRIMARY KEY (sort, value, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE quota(
  id TEXT PRIMARY KEY,
  used INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;


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
  UNIQUE (key_hash, api_id, org_id, version, endpoint, client_id, alias, tags)
) STRICT;

CREATE TABLE hit(
  hour INTEGER NOT NULL,
  dimension INTEGER NOT NULL,
  status INTEGER NOT NULL,
  count INTEGER NOT NULL,
  success INTEGER NOT NULL,
  error INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  t_sum REAL NOT NULL, t_min REAL NOT NULL, t_max REAL NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, t2 INTEGER NOT NULL, t3 INTEGER NOT NULL, t4 INTEGER NOT NULL, t5 INTEGER NOT NULL, t6 INTEGER NOT NULL, t7 INTEGER NOT NULL, t8 INTEGER NOT NULL, t9 INTEGER NOT NULL, t10 INTEGER NOT NULL, t11 INTEGER NOT NULL, t12 INTEGER NOT NULL, t13 INTEGER NOT NULL, u_sum REAL NOT NULL, u_min REAL NOT NULL, u_max REAL NOT NULL, u0 INTEGER NOT NULL, u1 INTEGER NOT NULL, u2 INTEGER NOT NULL, u3 INTEGER NOT NULL, u4 INTEGER NOT NULL, u5 INTEGER NOT NULL, u6 INTEGER NOT NULL, u7 INTEGER NOT NULL, u8 INTEGER NOT NULL, u9 INTEGER NOT NULL, u10 INTEGER NOT NULL, u11 INTEGER NOT NULL, u12 INTEGER NOT NULL, u13 INTEGER NOT NULL,
  PRIMARY KEY (hour, dimension, status)
) STRICT, WITHOUT ROWID;


CREATE TABLE hit_source(
  source TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
