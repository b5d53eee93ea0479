import type { DatabaseSync } from 'node:sqlite'
import { fault } from '../../../errors/fault.ts'
import { foldCase } from '../../../model/text/fold.ts'
import { withDimensionSteps } from '../../hits/dimension-steps.ts'
import { foldedAlias } from '../../prepare/session-filter.ts'
import { addDimensionSql, latencySql, MINUTES, MONTHS, ROLL_UPS } from './schema-rollups.ts'

/**
 * Sessions are found by the first six bytes of their hash: with a million of them the unique index on all 32 had three times the
 * pages, and each new token rewrites one of them. The unique index is part of its table, so the table is recreated; its numbers
 * stay. That a hash is there once is ensured by the writer, which alone writes and looks before.
 */
const SESSIONS_BY_HASH_HEAD = `
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

/**
 * The country becomes one more dimension of hits, and single requests are kept. The unique index of the dimensions is part of
 * their table, so the table is recreated; its numbers stay.
 */
const COUNTRY_AND_RECORDS = `
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
const RECORD_REQUEST_IDS = `
  ALTER TABLE record ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
  UPDATE record SET request_id = coalesce(json_extract(fields, '$.request_id'), '');
  CREATE INDEX record_by_request_id ON record(request_id) WHERE request_id <> '';
`

/** In the header of the file ("Gath"), to recognise a database of another program. */
export const APPLICATION_ID = 0x47617468

/** The sorts of `session_ref`: what a session can be listed by. `key`: sessions that are no tokens of clients, see `keyIndexEntries`. */
export const REF = { org: 1, api: 2, policy: 3, client: 4, key: 5 } as const

/**
 * The migrations of a database from one version to the next, the first one from nothing; each runs in a separate transaction.
 * One that was released never changes: append.
 *
 * Everywhere NOT NULL, because `undefined` is bound as NULL in silence. Sessions: an ordinary rowid table with an index on
 * hashes was twice as fast as hex text or a table without rowids. Documents likewise: bodies are large.
 */
const STEPS: readonly string[] = [
  `
  CREATE TABLE store_state(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    revision INTEGER NOT NULL, -- of the last commit
    last_group TEXT NOT NULL,  -- numbers of the writes of the last group of commits, for a writer that starts again
    declared TEXT NOT NULL     -- the declared indexes that document_index was filled by
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
    slot TEXT NOT NULL, -- '' under a unique index, the id under any other
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
    links TEXT NOT NULL, -- [API ids, policy ids]
    evict_at INTEGER NOT NULL,
    sealed_key BLOB NOT NULL,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX session_by_evict_at ON session(evict_at) WHERE evict_at > 0;

  CREATE TABLE session_ref(
    sort INTEGER NOT NULL,
    value TEXT NOT NULL,
    session INTEGER NOT NULL, -- its row: by hash, a new session would touch a random page for each entry
    PRIMARY KEY (sort, value, session)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE quota(
    id TEXT PRIMARY KEY,
    used INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Dimensions are long and repeat every hour: each set of them is stored once and known by a number.
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
    ${latencySql},
    PRIMARY KEY (hour, dimension, status)
  ) STRICT, WITHOUT ROWID;

  -- The last batch of hits of each source, so that a repeated one is not counted twice.
  CREATE TABLE hit_source(
    source TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL -- Unix seconds
  ) STRICT, WITHOUT ROWID;
  `,
  `
  ALTER TABLE session ADD COLUMN family TEXT NOT NULL DEFAULT '';
  CREATE INDEX session_by_family ON session(family) WHERE family <> '';

  -- What the authorization server lets be used once, or until it lapses.
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
  CREATE INDEX ticket_by_keep_until ON ticket(keep_until);
  CREATE INDEX ticket_by_family ON ticket(family) WHERE family <> '';

  -- AUTOINCREMENT: the number of a message that was delivered is never given to another.
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
  -- Ends in the id, as every index does: the order within a queue.
  CREATE INDEX delivery_by_queue ON delivery(dead, queue);
  `,
  `
  -- Each count has a number, which is never given to another while a trace of the first is left.
  ALTER TABLE quota RENAME TO quota_by_id;
  CREATE TABLE quota(
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    used INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
  ) STRICT;
  INSERT INTO quota(id, used, ends_at) SELECT id, used, ends_at FROM quota_by_id;
  DROP TABLE quota_by_id;

  -- Counts that changed, as they were saved: worked into quota a few seconds later, many at a time.
  CREATE TABLE quota_journal(
    row INTEGER PRIMARY KEY,
    counts BLOB NOT NULL -- number, used and end as 64-bit floats
  ) STRICT;

  -- Requests that are not in hit yet, see HitSamples; worked in a few seconds later, many at a time.
  CREATE TABLE hit_journal(
    row INTEGER PRIMARY KEY,
    hour INTEGER NOT NULL,
    samples BLOB NOT NULL
  ) STRICT;

  -- How far the entries of the journal up to one row are worked in: up to this hour and dimension.
  CREATE TABLE hit_fold(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    up_to INTEGER NOT NULL, -- 0 = no entry is
    hour INTEGER NOT NULL,
    dimension INTEGER NOT NULL
  ) STRICT;
  INSERT INTO hit_fold VALUES (1, 0, -1, 0);
  `,
  `
  -- What audit entries are searched by, see PreparedAudit.
  ALTER TABLE audit ADD COLUMN request TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit ADD COLUMN user TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit ADD COLUMN method TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit ADD COLUMN path TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit ADD COLUMN ip TEXT NOT NULL DEFAULT '';
  ALTER TABLE audit ADD COLUMN status INTEGER NOT NULL DEFAULT 0;
  UPDATE audit SET user = gatehouse_fold(actor);
  -- Holds all that a search looks at, so that it never reads the rows themselves.
  CREATE INDEX audit_search ON audit(org_id, at, action, method, ip, status, user, path);
  CREATE INDEX audit_by_at ON audit(at);

  -- The documents and sessions that an audited commit wrote.
  CREATE TABLE audit_change(
    row INTEGER PRIMARY KEY,
    audit INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    bodies BLOB NOT NULL -- see audit-bodies.ts; empty = too large to keep
  ) STRICT;
  CREATE INDEX audit_change_by_audit ON audit_change(audit);
  CREATE INDEX audit_change_by_document ON audit_change(kind, id, audit);

  -- What sessions are searched by, folded; apart from them, so that a search reads no bodies, and in their order.
  CREATE TABLE session_alias(
    session INTEGER PRIMARY KEY,
    alias TEXT NOT NULL
  ) STRICT;
  INSERT INTO session_alias(session, alias) SELECT row, alias FROM (
    SELECT row, gatehouse_alias(json_extract(body, '$.alias')) AS alias FROM session WHERE json_type(body, '$.alias') = 'text'
  ) WHERE alias <> '';
  INSERT OR IGNORE INTO session_ref(sort, value, session) SELECT ${REF.key}, '', row FROM session WHERE client_id = '';
  INSERT OR IGNORE INTO session_ref(sort, value, session) SELECT ${REF.key}, '=' || org_id, row FROM session WHERE client_id = '';
  `,
  `
  -- For the end of messages that were given up long ago.
  CREATE INDEX delivery_dead ON delivery(created_at) WHERE dead = 1;
  `,
  COUNTRY_AND_RECORDS,
  ROLL_UPS,
  SESSIONS_BY_HASH_HEAD,
  MONTHS,
  RECORD_REQUEST_IDS,
  MINUTES,
]

/** The same, with the columns of dimensions that came later. */
export const MIGRATIONS: readonly string[] = withDimensionSteps('embedded', STEPS, addDimensionSql)

/**
 * Brings a database to the newest version, or leaves it as it was.
 * @throws Fault `store_newer` when it is of a later version, `store_damaged` when it belongs to another program
 */
export function migrate(db: DatabaseSync, steps: readonly string[] = MIGRATIONS, nowMs = Date.now()): void {
  const version = readVersion(db)
  checkKnown(version, steps)
  if (version === 0) begin(db)
  // For steps that fill a column from texts.
  db.function('gatehouse_fold', { deterministic: true }, (text) => foldCase(String(text)))
  db.function('gatehouse_alias', { deterministic: true }, (text) => foldedAlias(String(text)))
  for (let next = version; next < steps.length; next++) {
    inTransaction(db, () => {
      db.exec(steps[next]!)
      db.prepare('INSERT INTO schema_version(version, at) VALUES (?, ?)').run(next + 1, nowMs)
    })
  }
}

/** @throws Fault `store_newer` for data of a later version than the steps lead to */
export function checkKnown(version: number, steps: readonly string[] = MIGRATIONS): void {
  if (version <= steps.length) return
  throw fault(
    'store_newer',
    `the data is of version ${version}, this program knows ${steps.length} and older: start the newer program again, or restore the backup from before its upgrade`,
  )
}

/** Runs the changes in one transaction and rolls back what was thrown at. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    // A full disk has ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** Version of the data, 0 for an empty database. Only reads. @throws Fault `store_damaged` */
export function readVersion(db: DatabaseSync): number {
  const objects = db.prepare('SELECT count(*) AS n FROM sqlite_schema').get()!.n as number
  const owner = db.prepare('PRAGMA application_id').get()!.application_id as number
  if (objects === 0 && owner === 0) return 0
  if (owner !== APPLICATION_ID) throw fault('store_damaged', 'the file is a database of another program')
  return db.prepare('SELECT coalesce(max(version), 0) AS version FROM schema_version').get()!.version as number
}

function begin(db: DatabaseSync): void {
  inTransaction(db, () => {
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec('CREATE TABLE IF NOT EXISTS schema_version(version INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT')
  })
}
