PRAGMA application_id = 1197569128;
CREATE TABLE schema_version(version INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
INSERT INTO schema_version("version", "at") VALUES (1, 0);
INSERT INTO schema_version("version", "at") VALUES (2, 0);
CREATE TABLE store_state(
  one INTEGER PRIMARY KEY CHECK (one = 1),
  revision INTEGER NOT NULL,
  last_group TEXT NOT NULL,
  declared TEXT NOT NULL
) STRICT;
INSERT INTO store_state("one", "revision", "last_group", "declared") VALUES (1, 3, '[]', '');
CREATE TABLE document(
  row INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  UNIQUE (kind, id)
) STRICT;
INSERT INTO document("row", "kind", "id", "revision", "body") VALUES (1, 'api', '00000000000000000000000a', 3, '{"api_id":"a","org_id":"o","name":"Ärger"}');
CREATE TABLE document_index(
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  slot TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (kind, name, value, slot)
) STRICT, WITHOUT ROWID;
CREATE TABLE audit(
  row INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  org_id TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
INSERT INTO audit("row", "revision", "at", "actor", "action", "org_id", "detail") VALUES (1, 3, 5, 'Ann', 'api.create', 'o', '{"api_id":"a"}');
CREATE TABLE session(
  row INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  org_id TEXT NOT NULL,
  client_id TEXT NOT NULL,
  links TEXT NOT NULL,
  evict_at INTEGER NOT NULL,
  sealed_key BLOB NOT NULL,
  body TEXT NOT NULL
, family TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO session("row", "hash", "org_id", "client_id", "links", "evict_at", "sealed_key", "body", "family") VALUES (1, X'2C70E12B7A0646F92279F427C7B38E7334D8E5389CFF167A1DC30E73F826B683', 'o', '', '[["a"],["p"]]', 0, X'7365616C6564', '{"alias":"x"}', '');
INSERT INTO session("row", "hash", "org_id", "client_id", "links", "evict_at", "sealed_key", "body", "family") VALUES (2, X'3C469E9D6C5875D37A43F353D4F88E61FCF812C66EEE3457465A40B0DA4153E0', 'o', 'c', '[["a"],["p"]]', 1699999999999, X'7365616C6564', '{"alias":"STRASSE"}', '');
INSERT INTO session("row", "hash", "org_id", "client_id", "links", "evict_at", "sealed_key", "body", "family") VALUES (3, X'17D72FDF1868464ADE4F11F794ECD73B655DB1E8EED322D2F66BDCBA5BCFDAD5', 'o', '', '[["a"],["p"]]', 0, X'7365616C6564', '{"alias":["x"]}', '');
INSERT INTO session("row", "hash", "org_id", "client_id", "links", "evict_at", "sealed_key", "body", "family") VALUES (4, X'A157D36A739191C1826419DA5C87AEDF3DD0CD6828565ADA2A38A6B68ED741E5', 'o', '', '[["a"],["p"]]', 0, X'7365616C6564', '{"alias":"Straße"}', '');
CREATE TABLE session_ref(
  sort INTEGER NOT NULL,
  value TEXT NOT NULL,
  session INTEGER NOT NULL,
  PRIMARY KEY (sort, value, session)
) STRICT, WITHOUT ROWID;
INSERT INTO session_ref("sort", "value", "session") VALUES (1, 'o', 1);
INSERT INTO session_ref("sort", "value", "session") VALUES (1, 'o', 2);
INSERT INTO session_ref("sort", "value", "session") VALUES (1, 'o', 3);
INSERT INTO session_ref("sort", "value", "session") VALUES (1, 'o', 4);
INSERT INTO session_ref("sort", "value", "session") VALUES (2, 'a', 1);
INSERT INTO session_ref("sort", "value", "session") VALUES (2, 'a', 2);
INSERT INTO session_ref("sort", "value", "session") VALUES (2, 'a', 3);
INSERT INTO session_ref("sort", "value", "session") VALUES (2, 'a', 4);
INSERT INTO session_ref("sort", "value", "session") VALUES (3, 'p', 1);
INSERT INTO session_ref("sort", "value", "session") VALUES (3, 'p', 2);
INSERT INTO session_ref("sort", "value", "session") VALUES (3, 'p', 3);
INSERT INTO session_ref("sort", "value", "session") VALUES (3, 'p', 4);
INSERT INTO session_ref("sort", "value", "session") VALUES (4, 'c', 2);
CREATE TABLE quota(
  id TEXT PRIMARY KEY,
  used INTEGER NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO quota("id", "used", "ends_at") VALUES ('q', 5, 1700003600000);
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
INSERT INTO hit_dimension("row", "org_id", "api_id", "version", "key_hash", "alias", "client_id", "tags", "endpoint") VALUES (1, 'o', 'a', '', 'k', '', '', '', '');
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
INSERT INTO hit("hour", "dimension", "status", "count", "success", "error", "last_at", "t_sum", "t_min", "t_max", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "t13", "u_sum", "u_min", "u_max", "u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10", "u11", "u12", "u13") VALUES (1, 1, 200, 7, 7, 0, 1, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
CREATE TABLE hit_source(
  source TEXT PRIMARY KEY,
  number INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE ticket(
    row INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    sort TEXT NOT NULL,
    api_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    family TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    keep_until INTEGER NOT NULL,
    version INTEGER NOT NULL,
    claimed_at INTEGER NOT NULL, -- 0 = not used
    body TEXT NOT NULL
  ) STRICT;
CREATE TABLE delivery(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    dead INTEGER NOT NULL, -- 1 = given up
    queue TEXT NOT NULL,
    next_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    error TEXT NOT NULL,
    sealed BLOB NOT NULL
  ) STRICT;
CREATE INDEX document_index_by_id ON document_index(kind, id, name, value);
CREATE INDEX audit_by_org ON audit(org_id, at);
CREATE INDEX session_by_evict_at ON session(evict_at) WHERE evict_at > 0;
CREATE INDEX session_by_family ON session(family) WHERE family <> '';
CREATE INDEX ticket_by_keep_until ON ticket(keep_until);
CREATE INDEX ticket_by_family ON ticket(family) WHERE family <> '';
CREATE INDEX delivery_by_queue ON delivery(dead, queue);
