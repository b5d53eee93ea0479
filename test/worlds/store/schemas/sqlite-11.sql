PRAGMA application_id = 1197569128;
CREATE TABLE schema_version(version INTEGER PRIMARY KEY, at INTEGER NOT NULL) STRICT;
INSERT INTO schema_version("version", "at") VALUES (1, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (2, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (3, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (4, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (5, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (6, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (7, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (8, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (9, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (10, 1795813154297);
INSERT INTO schema_version("version", "at") VALUES (11, 1795813154297);
CREATE TABLE store_state(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    revision INTEGER NOT NULL, -- of the last commit
    last_group TEXT NOT NULL,  -- numbers of the writes of the last group of commits, for a writer that starts again
    declared TEXT NOT NULL     -- the declared indexes that document_index was filled by
  ) STRICT;
INSERT INTO store_state("one", "revision", "last_group", "declared") VALUES (1, 2, '[[2,2]]', 'addresses | |
api api_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined place=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined place_domain=(body) => placed(body)?.domain || undefined place_head=(body) => (placed(body)?.domain === '''' ? placed(body)?.head : undefined) version_ids=(body            ) => {
  const list = body[name]
  return Array.isArray(list) ? list.filter((entry) => typeof entry === ''string'') : undefined
} standing=(body) => ((texts(''base_ids'')(body) ?? []).length > 0 ? ''version'' : ''base'') owner=function ownersOf(body            )           {
  const { users, groups } = readOwners(body)
  const filed = [...users.map((id) => `u:${id}`), ...groups.map((id) => `g:${id}`)]
  return filed.length === 0 && body.ownerless !== true ? [''*''] : filed
} certificate=function certificateNames(stored            )           {
  return [...new Set(certificateRefs(stored).map(({ name }) => name))]
} active=(body            ) => String(body[name] === true) api_type=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined auth_type=(body            ) => {
  const list = body[name]
  return Array.isArray(list) ? list.filter((entry) => typeof entry === ''string'') : undefined
} category=function categoriesOf(body            )           {
  const inName = body.format === ''oas'' ? [] : (textOf(body, ''name'').match(/(?<=^|\s)#\S+/g) ?? [])
  return [...new Set([...textsOf(body, ''categories''), ...inName.map((word) => word.slice(1))])]
} category_folded=(body) => categoriesOf(body).map((category) => fold(`#${category}`)) label=function labelsOf(body            )           {
  return labelPairs(body).map(({ key, value }) => labelIndexEntry(key, value))
} label_key=function labelKeysOf(body            )           {
  return labelPairs(body).map(({ key }) => key)
} label_folded=(body) => labelValuesOf(body).map(fold) | name=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined name_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined created_at=(body            ) => {
  const value = body[name]
  const time = typeof value === ''string'' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
} updated_at=(body            ) => {
  const value = body[name]
  const time = typeof value === ''string'' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
asset org_asset=(body) => `${body.org_id ?? ''''}/${body.id ?? ''''}` | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined kind=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | name_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined
catalogue org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | |
certificate cert_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined subject_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined | not_after=(body            ) => {
  const value = body[name]
  const time = typeof value === ''string'' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
} date_created=(body            ) => {
  const value = body[name]
  const time = typeof value === ''string'' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
developer org_email=(body) => `${body.org_id ?? ''''}/${foldCase(String(body.email ?? ''''))}` | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined sso_key=(body) => (body.sso_key === '''' ? undefined : lower(''sso_key'')(body)) nonce=(body) => (body.nonce === '''' ? undefined : text(''nonce'')(body)) key=function keyHashesOf(body            )                    {
  return isObject(body.keys) ? Object.keys(body.keys) : []
} org_policy=(body) => policyIdsOfDeveloper(body).map((id) => `${body.org_id ?? ''''}/${id}`) | email_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined date_created=(body            ) => {
  const value = body[name]
  const time = typeof value === ''string'' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
} | org_id/email_folded,date_created
hook | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | name=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined name_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined
idp_profile id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | name_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined
installation | |
key_end | developer_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | at=(body            ) => {
  const value = body[name]
  const time = typeof value === ''string'' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
key_request waiting=(body) =>
        body.approved === true
          ? undefined
          : `${body.by_user ?? ''''}/${[...(texts(''apply_policies'')(body) ?? [])].sort().join('','')}` | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined by_user=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined approved=(body            ) => String(body[name] === true) org_approved=(body) => `${body.org_id ?? ''''}/${flag(''approved'')(body)}` policy=(body            ) => {
  const list = body[name]
  return Array.isArray(list) ? list.filter((entry) => typeof entry === ''string'') : undefined
} | date_created=(body            ) => {
  const value = body[name]
  const time = typeof value === ''string'' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
} | org_id/date_created | org_approved/date_created
label org_key=(body) => `${body.org_id ?? ''''}/${body.key ?? ''''}` org_name=(body) => `${body.org_id ?? ''''}/${foldCase(String(body.name ?? ''''))}` | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | name_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined
node | | name=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined
oauth_client client_id=(body) => clientKey(body                          ) registered=(body) => registrationKeys(body                          ) | client=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined api_ids=(body            ) => {
  const list = body[name]
  return Array.isArray(list) ? list.filter((entry) => typeof entry === ''string'') : undefined
} policies=(body            ) => {
  const list = body[name]
  return Array.isArray(list) ? list.filter((entry) => typeof entry === ''string'') : undefined
} registered_by_policy=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined |
oauth_key | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined |
order | |
org_session org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | |
organisation | name=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined cname=(body) => (body.cname === '''' ? undefined : folded(''cname'')(body)) |
policy org_policy=(body) => `${body.org_id ?? ''''}/${body.id ?? ''''}` | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined id_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined state=function stateOf(body            )         {
  if (body.state === ''deny'' || body.state === ''draft'') return body.state
  if (body.is_inactive === true) return ''deny''
  return body.active === false ? ''draft'' : ''active''
} api_id=function policyApisOf(body            )           {
  const rights = isObject(body.access_rights) ? Object.keys(body.access_rights) : []
  const listed = Array.isArray(body.access_rights_array) ? body.access_rights_array.filter(isObject) : []
  const ids = listed.map(({ api_id }) => api_id).filter((id) => typeof id === ''string'')
  return [...new Set([...rights, ...ids])]
} auth_type=function policyAuthTypesOf({ auth_type, auth_types }            )           {
  const listed = Array.isArray(auth_types) ? auth_types : []
  const all = [auth_type, ...listed].filter((type)                 => typeof type === ''string'' && type !== '''')
  return [...new Set(all)]
} | name=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined name_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined state_order=function stateOf(body            )         {
  if (body.state === ''deny'' || body.state === ''draft'') return body.state
  if (body.is_inactive === true) return ''deny''
  return body.active === false ? ''draft'' : ''active''
} date_created=(body            ) => {
  const value = body[name]
  const time = typeof value === ''string'' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}
portal_configuration org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | |
portal_documentation | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined api_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined |
portal_documentation_text | |
portal_look org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | |
portal_menu org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | |
portal_page org_slug=(body) => `${body.org_id ?? ''''}/${String(body.slug ?? '''').replace(/^\/|\/$/g, '''')}` homepage_of=({ is_homepage: is, org_id }            ) => (is === true ? String(org_id ?? '''') : undefined) | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined | title_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined
user org_email=(body) => `${body.org_id ?? ''''}/${body.email_address ?? ''''}` access_hmac=(body) => (body.access_hmac === '''' ? undefined : text(''access_hmac'')(body)) access_hmac_before=({ access_before: before }) => (isObject(before) ? text(''hmac'')(before) : undefined) sso_identity=(body) => boundIdentity(body) || undefined | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined email=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined email_folded=(body            ) =>
  typeof body[name] === ''string'' ? fold(body[name]          ) : undefined group_id=(body) => (body.group_id === '''' ? undefined : text(''group_id'')(body)) admin_of=(body) =>
        isObject(body.user_permissions) && administers(body                   ) ? text(''org_id'')(body) : undefined |
user_group | org_id=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined name=(body            ) =>
  typeof body[name] === ''string'' ? (body[name]          ) : undefined |');
CREATE TABLE document(
    row INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
INSERT INTO document("row", "kind", "id", "revision", "body") VALUES (1, 'api', '00000000000000000000000a', 1, '{"api_id":"a","org_id":"o","name":"Ärger"}');
CREATE TABLE document_index(
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    slot TEXT NOT NULL, -- '' under a unique index, the id under any other
    id TEXT NOT NULL,
    PRIMARY KEY (kind, name, value, slot)
  ) STRICT, WITHOUT ROWID;
INSERT INTO document_index("kind", "name", "value", "slot", "id") VALUES ('api', 'active', 'false', '00000000000000000000000a', '00000000000000000000000a');
INSERT INTO document_index("kind", "name", "value", "slot", "id") VALUES ('api', 'api_id', 'a', '', '00000000000000000000000a');
INSERT INTO document_index("kind", "name", "value", "slot", "id") VALUES ('api', 'created_at', '', '00000000000000000000000a', '00000000000000000000000a');
INSERT INTO document_index("kind", "name", "value", "slot", "id") VALUES ('api', 'name', 'Ärger', '00000000000000000000000a', '00000000000000000000000a');
INSERT INTO document_index("kind", "name", "value", "slot", "id") VALUES ('api', 'name_folded', 'ärger', '00000000000000000000000a', '00000000000000000000000a');
INSERT INTO document_index("kind", "name", "value", "slot", "id") VALUES ('api', 'org_id', 'o', '00000000000000000000000a', '00000000000000000000000a');
INSERT INTO document_index("kind", "name", "value", "slot", "id") VALUES ('api', 'owner', '*', '00000000000000000000000a', '00000000000000000000000a');
INSERT INTO document_index("kind", "name", "value", "slot", "id") VALUES ('api', 'standing', 'base', '00000000000000000000000a', '00000000000000000000000a');
INSERT INTO document_index("kind", "name", "value", "slot", "id") VALUES ('api', 'updated_at', '', '00000000000000000000000a', '00000000000000000000000a');
CREATE TABLE audit(
    row INTEGER PRIMARY KEY,
    revision INTEGER NOT NULL,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    org_id TEXT NOT NULL,
    detail TEXT NOT NULL
  , request TEXT NOT NULL DEFAULT '', user TEXT NOT NULL DEFAULT '', method TEXT NOT NULL DEFAULT '', path TEXT NOT NULL DEFAULT '', ip TEXT NOT NULL DEFAULT '', status INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO audit("row", "revision", "at", "actor", "action", "org_id", "detail", "request", "user", "method", "path", "ip", "status") VALUES (1, 1, 1700000000000, 'Ann', 'api.create', 'o', '{"api_id":"a"}', '', 'ann', '', '', '', 0);
CREATE TABLE session_ref(
    sort INTEGER NOT NULL,
    value TEXT NOT NULL,
    session INTEGER NOT NULL, -- its row: by hash, a new session would touch a random page for each entry
    PRIMARY KEY (sort, value, session)
  ) STRICT, WITHOUT ROWID;
INSERT INTO session_ref("sort", "value", "session") VALUES (1, 'o', 1);
INSERT INTO session_ref("sort", "value", "session") VALUES (1, 'o', 2);
INSERT INTO session_ref("sort", "value", "session") VALUES (2, 'a', 1);
INSERT INTO session_ref("sort", "value", "session") VALUES (2, 'a', 2);
INSERT INTO session_ref("sort", "value", "session") VALUES (3, 'p', 1);
INSERT INTO session_ref("sort", "value", "session") VALUES (4, 'c', 2);
INSERT INTO session_ref("sort", "value", "session") VALUES (5, '', 1);
INSERT INTO session_ref("sort", "value", "session") VALUES (5, '=o', 1);
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
INSERT INTO hit("hour", "dimension", "status", "count", "success", "error", "last_at", "t_sum", "t_min", "t_max", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "t13", "u_sum", "u_min", "u_max", "u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10", "u11", "u12", "u13") VALUES (472222, 1, 200, 7, 7, 0, 1700000000000, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
CREATE TABLE hit_source(
    source TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL -- Unix seconds
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
INSERT INTO ticket("row", "hash", "sort", "api_id", "client_id", "family", "expires_at", "keep_until", "version", "claimed_at", "body") VALUES (1, X'D6CC0A088C07683C65CD266860CAB8D94B3A1937B17420D9DA30CA299C09FB77', 'refresh', 'a', 'c', 'f', 4000000000000, 4000000000000, 1, 0, '{"n":1}');
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
INSERT INTO delivery("id", "dead", "queue", "next_at", "attempts", "created_at", "error", "sealed") VALUES (1, 0, 'a', 0, 0, 1700000000000, '', X'6D657373616765');
CREATE TABLE quota(
    number INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    used INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
  ) STRICT;
CREATE TABLE quota_journal(
    row INTEGER PRIMARY KEY,
    counts BLOB NOT NULL -- number, used and end as 64-bit floats
  ) STRICT;
CREATE TABLE hit_journal(
    row INTEGER PRIMARY KEY,
    hour INTEGER NOT NULL,
    samples BLOB NOT NULL
  ) STRICT;
CREATE TABLE hit_fold(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    up_to INTEGER NOT NULL, -- 0 = no entry is
    hour INTEGER NOT NULL,
    dimension INTEGER NOT NULL
  ) STRICT;
INSERT INTO hit_fold("one", "up_to", "hour", "dimension") VALUES (1, 0, -1, 0);
CREATE TABLE audit_change(
    row INTEGER PRIMARY KEY,
    audit INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    bodies BLOB NOT NULL -- see audit-bodies.ts; empty = too large to keep
  ) STRICT;
INSERT INTO audit_change("row", "audit", "kind", "id", "bodies") VALUES (1, 1, 'api', '00000000000000000000000a', X'005B6E756C6C2C7B226170695F6964223A2261222C226F72675F6964223A226F222C226E616D65223A22C38472676572227D2C6E756C6C5D');
CREATE TABLE session_alias(
    session INTEGER PRIMARY KEY,
    alias TEXT NOT NULL
  ) STRICT;
INSERT INTO session_alias("session", "alias") VALUES (1, 'strasse');
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
INSERT INTO hit_dimension("row", "org_id", "api_id", "version", "key_hash", "alias", "client_id", "tags", "endpoint", "country") VALUES (1, 'o', 'a', '', 'k', '', '', '', '', '');
INSERT INTO hit_dimension("row", "org_id", "api_id", "version", "key_hash", "alias", "client_id", "tags", "endpoint", "country") VALUES (2, 'o', 'a', '', '', '', '', '', '', '');
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
  , request_id TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO record("row", "at", "org_id", "api_id", "status", "method", "key_hash", "client_id", "tags", "path", "fields", "request_id") VALUES (1, 1700000000000, 'o', 'a', 404, 'GET', 'k', '', ',x,y,', '/ä', '{"host":"h"}', 'of-the-record');
CREATE TABLE record_detail(
    record INTEGER PRIMARY KEY,
    request BLOB NOT NULL,
    response BLOB NOT NULL
  ) STRICT;
INSERT INTO record_detail("record", "request", "response") VALUES (1, X'474554', X'343034');
CREATE TABLE record_dropped(
    minute INTEGER NOT NULL, -- since 1970
    org_id TEXT NOT NULL,
    api_id TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (minute, org_id, api_id)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE hit_day(day INTEGER NOT NULL, 
    dimension INTEGER NOT NULL,
    status INTEGER NOT NULL,
    count INTEGER NOT NULL,
    success INTEGER NOT NULL,
    error INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    t_sum REAL NOT NULL, t_min REAL NOT NULL, t_max REAL NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, t2 INTEGER NOT NULL, t3 INTEGER NOT NULL, t4 INTEGER NOT NULL, t5 INTEGER NOT NULL, t6 INTEGER NOT NULL, t7 INTEGER NOT NULL, t8 INTEGER NOT NULL, t9 INTEGER NOT NULL, t10 INTEGER NOT NULL, t11 INTEGER NOT NULL, t12 INTEGER NOT NULL, t13 INTEGER NOT NULL, u_sum REAL NOT NULL, u_min REAL NOT NULL, u_max REAL NOT NULL, u0 INTEGER NOT NULL, u1 INTEGER NOT NULL, u2 INTEGER NOT NULL, u3 INTEGER NOT NULL, u4 INTEGER NOT NULL, u5 INTEGER NOT NULL, u6 INTEGER NOT NULL, u7 INTEGER NOT NULL, u8 INTEGER NOT NULL, u9 INTEGER NOT NULL, u10 INTEGER NOT NULL, u11 INTEGER NOT NULL, u12 INTEGER NOT NULL, u13 INTEGER NOT NULL, PRIMARY KEY (day, dimension, status)) STRICT, WITHOUT ROWID;
INSERT INTO hit_day("day", "dimension", "status", "count", "success", "error", "last_at", "t_sum", "t_min", "t_max", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "t13", "u_sum", "u_min", "u_max", "u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10", "u11", "u12", "u13") VALUES (19675, 1, 200, 7, 7, 0, 1700000000000, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
CREATE TABLE hit_api(hour INTEGER NOT NULL, 
    dimension INTEGER NOT NULL,
    status INTEGER NOT NULL,
    count INTEGER NOT NULL,
    success INTEGER NOT NULL,
    error INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    t_sum REAL NOT NULL, t_min REAL NOT NULL, t_max REAL NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, t2 INTEGER NOT NULL, t3 INTEGER NOT NULL, t4 INTEGER NOT NULL, t5 INTEGER NOT NULL, t6 INTEGER NOT NULL, t7 INTEGER NOT NULL, t8 INTEGER NOT NULL, t9 INTEGER NOT NULL, t10 INTEGER NOT NULL, t11 INTEGER NOT NULL, t12 INTEGER NOT NULL, t13 INTEGER NOT NULL, u_sum REAL NOT NULL, u_min REAL NOT NULL, u_max REAL NOT NULL, u0 INTEGER NOT NULL, u1 INTEGER NOT NULL, u2 INTEGER NOT NULL, u3 INTEGER NOT NULL, u4 INTEGER NOT NULL, u5 INTEGER NOT NULL, u6 INTEGER NOT NULL, u7 INTEGER NOT NULL, u8 INTEGER NOT NULL, u9 INTEGER NOT NULL, u10 INTEGER NOT NULL, u11 INTEGER NOT NULL, u12 INTEGER NOT NULL, u13 INTEGER NOT NULL, PRIMARY KEY (hour, dimension, status)) STRICT, WITHOUT ROWID;
INSERT INTO hit_api("hour", "dimension", "status", "count", "success", "error", "last_at", "t_sum", "t_min", "t_max", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "t13", "u_sum", "u_min", "u_max", "u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10", "u11", "u12", "u13") VALUES (472222, 2, 200, 7, 7, 0, 1700000000000, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
CREATE TABLE hit_api_day(day INTEGER NOT NULL, 
    dimension INTEGER NOT NULL,
    status INTEGER NOT NULL,
    count INTEGER NOT NULL,
    success INTEGER NOT NULL,
    error INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    t_sum REAL NOT NULL, t_min REAL NOT NULL, t_max REAL NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, t2 INTEGER NOT NULL, t3 INTEGER NOT NULL, t4 INTEGER NOT NULL, t5 INTEGER NOT NULL, t6 INTEGER NOT NULL, t7 INTEGER NOT NULL, t8 INTEGER NOT NULL, t9 INTEGER NOT NULL, t10 INTEGER NOT NULL, t11 INTEGER NOT NULL, t12 INTEGER NOT NULL, t13 INTEGER NOT NULL, u_sum REAL NOT NULL, u_min REAL NOT NULL, u_max REAL NOT NULL, u0 INTEGER NOT NULL, u1 INTEGER NOT NULL, u2 INTEGER NOT NULL, u3 INTEGER NOT NULL, u4 INTEGER NOT NULL, u5 INTEGER NOT NULL, u6 INTEGER NOT NULL, u7 INTEGER NOT NULL, u8 INTEGER NOT NULL, u9 INTEGER NOT NULL, u10 INTEGER NOT NULL, u11 INTEGER NOT NULL, u12 INTEGER NOT NULL, u13 INTEGER NOT NULL, PRIMARY KEY (day, dimension, status)) STRICT, WITHOUT ROWID;
INSERT INTO hit_api_day("day", "dimension", "status", "count", "success", "error", "last_at", "t_sum", "t_min", "t_max", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "t13", "u_sum", "u_min", "u_max", "u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10", "u11", "u12", "u13") VALUES (19675, 2, 200, 7, 7, 0, 1700000000000, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
CREATE TABLE hit_dimension_use(
    dimension INTEGER PRIMARY KEY,
    coarse INTEGER NOT NULL, -- the set of dimensions that stands for it in hit_api
    last_day INTEGER NOT NULL -- when a hit was last added, by the clock of the machine
  ) STRICT;
INSERT INTO hit_dimension_use("dimension", "coarse", "last_day") VALUES (1, 2, 20784);
INSERT INTO hit_dimension_use("dimension", "coarse", "last_day") VALUES (2, 2, 20784);
CREATE TABLE hit_rolled_up(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    done INTEGER NOT NULL -- 0: hits from before these tables are to be added to them
  ) STRICT;
INSERT INTO hit_rolled_up("one", "done") VALUES (1, 1);
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
INSERT INTO session("row", "hash", "org_id", "client_id", "links", "evict_at", "sealed_key", "body", "family") VALUES (1, X'2C70E12B7A0646F92279F427C7B38E7334D8E5389CFF167A1DC30E73F826B683', 'o', '', '[["a"],["p"]]', 0, X'7365616C6564', '{"alias":"Straße","rate":7}', '');
INSERT INTO session("row", "hash", "org_id", "client_id", "links", "evict_at", "sealed_key", "body", "family") VALUES (2, X'3C469E9D6C5875D37A43F353D4F88E61FCF812C66EEE3457465A40B0DA4153E0', 'o', 'c', '[["a"],[]]', 4000000000000, X'', '{"alias":""}', 'f');
CREATE TABLE hit_month(day INTEGER NOT NULL, 
    dimension INTEGER NOT NULL,
    status INTEGER NOT NULL,
    count INTEGER NOT NULL,
    success INTEGER NOT NULL,
    error INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    t_sum REAL NOT NULL, t_min REAL NOT NULL, t_max REAL NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, t2 INTEGER NOT NULL, t3 INTEGER NOT NULL, t4 INTEGER NOT NULL, t5 INTEGER NOT NULL, t6 INTEGER NOT NULL, t7 INTEGER NOT NULL, t8 INTEGER NOT NULL, t9 INTEGER NOT NULL, t10 INTEGER NOT NULL, t11 INTEGER NOT NULL, t12 INTEGER NOT NULL, t13 INTEGER NOT NULL, u_sum REAL NOT NULL, u_min REAL NOT NULL, u_max REAL NOT NULL, u0 INTEGER NOT NULL, u1 INTEGER NOT NULL, u2 INTEGER NOT NULL, u3 INTEGER NOT NULL, u4 INTEGER NOT NULL, u5 INTEGER NOT NULL, u6 INTEGER NOT NULL, u7 INTEGER NOT NULL, u8 INTEGER NOT NULL, u9 INTEGER NOT NULL, u10 INTEGER NOT NULL, u11 INTEGER NOT NULL, u12 INTEGER NOT NULL, u13 INTEGER NOT NULL, PRIMARY KEY (day, dimension, status)) STRICT, WITHOUT ROWID;
CREATE TABLE hit_month_state(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    from_day INTEGER NOT NULL, -- the first day that is in hit_month; -1 = none is
    day INTEGER NOT NULL,      -- how far, up to and with this row of hit_day
    dimension INTEGER NOT NULL,
    status INTEGER NOT NULL
  ) STRICT;
INSERT INTO hit_month_state("one", "from_day", "day", "dimension", "status") VALUES (1, -1, -1, -1, -1);
CREATE TABLE hit_minute(minute INTEGER NOT NULL, 
    dimension INTEGER NOT NULL,
    status INTEGER NOT NULL,
    count INTEGER NOT NULL,
    success INTEGER NOT NULL,
    error INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    t_sum REAL NOT NULL, t_min REAL NOT NULL, t_max REAL NOT NULL, t0 INTEGER NOT NULL, t1 INTEGER NOT NULL, t2 INTEGER NOT NULL, t3 INTEGER NOT NULL, t4 INTEGER NOT NULL, t5 INTEGER NOT NULL, t6 INTEGER NOT NULL, t7 INTEGER NOT NULL, t8 INTEGER NOT NULL, t9 INTEGER NOT NULL, t10 INTEGER NOT NULL, t11 INTEGER NOT NULL, t12 INTEGER NOT NULL, t13 INTEGER NOT NULL, u_sum REAL NOT NULL, u_min REAL NOT NULL, u_max REAL NOT NULL, u0 INTEGER NOT NULL, u1 INTEGER NOT NULL, u2 INTEGER NOT NULL, u3 INTEGER NOT NULL, u4 INTEGER NOT NULL, u5 INTEGER NOT NULL, u6 INTEGER NOT NULL, u7 INTEGER NOT NULL, u8 INTEGER NOT NULL, u9 INTEGER NOT NULL, u10 INTEGER NOT NULL, u11 INTEGER NOT NULL, u12 INTEGER NOT NULL, u13 INTEGER NOT NULL, PRIMARY KEY (minute, dimension, status)) STRICT, WITHOUT ROWID;
INSERT INTO hit_minute("minute", "dimension", "status", "count", "success", "error", "last_at", "t_sum", "t_min", "t_max", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8", "t9", "t10", "t11", "t12", "t13", "u_sum", "u_min", "u_max", "u0", "u1", "u2", "u3", "u4", "u5", "u6", "u7", "u8", "u9", "u10", "u11", "u12", "u13") VALUES (28333333, 2, 200, 7, 7, 0, 1700000000000, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 9007199254740991.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
CREATE TABLE hit_minute_state(
    one INTEGER PRIMARY KEY CHECK (one = 1),
    from_minute INTEGER NOT NULL -- since 1970
  ) STRICT;
INSERT INTO hit_minute_state("one", "from_minute") VALUES (1, 0);
CREATE INDEX document_index_by_id ON document_index(kind, id, name, value);
CREATE INDEX audit_by_org ON audit(org_id, at);
CREATE INDEX ticket_by_keep_until ON ticket(keep_until);
CREATE INDEX ticket_by_family ON ticket(family) WHERE family <> '';
CREATE INDEX delivery_by_queue ON delivery(dead, queue);
CREATE INDEX audit_search ON audit(org_id, at, action, method, ip, status, user, path);
CREATE INDEX audit_by_at ON audit(at);
CREATE INDEX audit_change_by_audit ON audit_change(audit);
CREATE INDEX audit_change_by_document ON audit_change(kind, id, audit);
CREATE INDEX delivery_dead ON delivery(created_at) WHERE dead = 1;
CREATE INDEX record_search ON record(at, org_id, api_id, status, method, key_hash, client_id, tags, path);
CREATE INDEX hit_dimension_use_by_day ON hit_dimension_use(last_day);
CREATE INDEX hit_dimension_by_client ON hit_dimension(client_id) WHERE client_id <> '';
CREATE INDEX session_by_hash ON session(substr(hash, 1, 6));
CREATE INDEX session_by_evict_at ON session(evict_at) WHERE evict_at > 0;
CREATE INDEX session_by_family ON session(family) WHERE family <> '';
CREATE INDEX record_by_request_id ON record(request_id) WHERE request_id <> '';
INSERT INTO sqlite_sequence("name", "seq") VALUES ('delivery', 1);
INSERT INTO sqlite_sequence("name", "seq") VALUES ('record', 1);
