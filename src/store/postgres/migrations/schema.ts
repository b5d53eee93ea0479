// The migrations of a database from one version to the next. Texts in indexes sort by their bytes, with any locale of
// the database. Everywhere NOT NULL.

/** Bounds of a transaction: what is stuck must not hold others up for ever. */
export const TRANSACTION_BOUNDS = 'SET LOCAL lock_timeout = 5000; SET LOCAL idle_in_transaction_session_timeout = 5000'

const C = 'text COLLATE "C" NOT NULL'

/** Documents, sessions, tickets, messages, audit and feed. */
export const FIRST: readonly string[] = [
  // One row, which every commit locks first: commits of all processes go one group after the other, in the order of revisions.
  // The numbers are the last ones that were given.
  `CREATE TABLE store_state(
    one int PRIMARY KEY CHECK (one = 1),
    revision bigint NOT NULL,
    last_session bigint NOT NULL,
    last_delivery bigint NOT NULL,
    last_audit bigint NOT NULL,
    needs int NOT NULL -- the oldest version of a program that may work with the data
  ) WITH (fillfactor = 10)`,
  'INSERT INTO store_state VALUES (1, 0, 0, 0, 0, 1)',

  // The change feed, a row for each group of commits; kept for a while for nodes that were away.
  `CREATE TABLE feed(
    upto bigint PRIMARY KEY, -- revision of its last commit
    first bigint NOT NULL,
    writer text NOT NULL,    -- a random name of the group, by which its writer finds out whether it was committed
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    events text NOT NULL     -- see feed-line.ts
  )`,

  // Sets of indexes that documents were filed by, in the order in which the first program with each came.
  'CREATE TABLE declaration(number int PRIMARY KEY, hash text NOT NULL UNIQUE)',

  `CREATE TABLE document(
    kind ${C}, id ${C},
    revision bigint NOT NULL,
    filed int NOT NULL, -- by which declaration
    body text NOT NULL,
    PRIMARY KEY (kind, id)
  )`,
  'CREATE INDEX document_by_filed ON document(filed)',
  `CREATE TABLE document_index(
    kind ${C}, name ${C},
    value ${C}, -- see filed() of texts.ts
    id ${C},
    uniq boolean NOT NULL,
    whole text          -- of a value that was cut
  )`,
  'CREATE UNIQUE INDEX document_index_unique ON document_index(kind, name, value) WHERE uniq',
  'CREATE INDEX document_index_by_value ON document_index(kind, name, value, id)',
  'CREATE INDEX document_index_by_id ON document_index(kind, id)',

  // number: in the order of creation.
  `CREATE TABLE session(
    number bigint PRIMARY KEY,
    hash bytea NOT NULL CHECK (length(hash) = 32),
    org_id text NOT NULL,
    client_id text NOT NULL,
    links text NOT NULL, -- JSON: [API ids, policy ids]
    evict_at bigint NOT NULL,
    sealed_key bytea NOT NULL,
    family ${C},
    body text NOT NULL
  )`,
  'CREATE UNIQUE INDEX session_by_hash ON session(hash)',
  'CREATE INDEX session_by_evict_at ON session(evict_at) WHERE evict_at > 0',
  "CREATE INDEX session_by_family ON session(family) WHERE family <> ''",
  `CREATE TABLE session_ref(
    sort smallint NOT NULL,
    value ${C},
    session bigint NOT NULL,
    PRIMARY KEY (sort, value, session)
  )`,
  // Apart from the sessions, so that a search reads no bodies.
  'CREATE TABLE session_alias(session bigint PRIMARY KEY, alias text COLLATE "C" NOT NULL)',

  `CREATE TABLE ticket(
    hash bytea PRIMARY KEY CHECK (length(hash) = 32),
    sort text NOT NULL,
    api_id text NOT NULL,
    client_id text NOT NULL,
    family ${C},
    expires_at bigint NOT NULL,
    keep_until bigint NOT NULL,
    version bigint NOT NULL,
    claimed_at bigint NOT NULL, -- 0 = not used
    body text NOT NULL
  ) WITH (fillfactor = 80)`,
  'CREATE INDEX ticket_by_keep_until ON ticket(keep_until)',
  "CREATE INDEX ticket_by_family ON ticket(family) WHERE family <> ''",

  `CREATE TABLE delivery(
    id bigint PRIMARY KEY,
    dead boolean NOT NULL,
    queue ${C},
    next_at bigint NOT NULL,
    attempts int NOT NULL,
    created_at bigint NOT NULL,
    error text NOT NULL,
    sealed bytea NOT NULL
  )`,
  'CREATE INDEX delivery_by_queue ON delivery(queue, id) WHERE NOT dead',
  'CREATE INDEX delivery_dead ON delivery(queue, id) WHERE dead',
  'CREATE INDEX delivery_by_age ON delivery(created_at) WHERE dead',

  `CREATE TABLE audit(
    number bigint PRIMARY KEY,
    revision bigint NOT NULL,
    at_ms bigint NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    org_id ${C},
    detail text NOT NULL,
    request text NOT NULL,
    -- What entries are searched by, see PreparedAudit.
    who text COLLATE "C" NOT NULL,
    method text NOT NULL,
    path text COLLATE "C" NOT NULL,
    ip text NOT NULL,
    status int NOT NULL
  )`,
  'CREATE INDEX audit_by_org ON audit(org_id, at_ms, number)',
  'CREATE INDEX audit_by_at ON audit(at_ms, number)',
  `CREATE TABLE audit_change(
    audit bigint NOT NULL,
    place int NOT NULL,
    kind ${C}, id ${C},
    bodies bytea NOT NULL, -- see audit-bodies.ts; empty = too large to keep
    PRIMARY KEY (audit, place)
  )`,
  'CREATE INDEX audit_change_by_document ON audit_change(kind, id, audit)',
]
