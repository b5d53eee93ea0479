import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { ListQuery, SessionFilter } from '../../../src/store/ports/ports.ts'
import { prepareList } from '../../../src/store/prepare/list-query.ts'
import { prepareAuditQuery } from '../../../src/store/prepare/prepare-audit.ts'
import { prepareSessionFilter } from '../../../src/store/prepare/session-filter.ts'
import { auditCountSql, auditPageSql, auditPlan } from '../../../src/store/sqlite/audit/read-audit.ts'
import { openWritable } from '../../../src/store/sqlite/connection/database.ts'
import {
  chooseDrive,
  entriesSql,
  kindSql,
  pageSql,
  type Sql,
  totalSql,
  valuesBySql,
  valuesSql,
} from '../../../src/store/sqlite/documents/list-plan.ts'
import { dueSql, plainCountSql, walkSql } from '../../../src/store/sqlite/tokens/read-tokens.ts'
import { dueNumbersSql, sourcesOf } from '../../../src/store/sqlite/tokens/session-sets.ts'
import { temporaryFolder } from '../../contract/adapters.ts'

function emptyStore(t: TestContext): DatabaseSync {
  const db = openWritable({ file: join(temporaryFolder(t), 'gatehouse.db'), limitBytes: 0 })
  t.after(() => db.close())
  return db
}

/** How SQLite reads the tables for a statement, one line each. */
function plan(db: DatabaseSync, { text, values }: Sql): string[] {
  return db
    .prepare(`EXPLAIN QUERY PLAN ${text}`)
    .all(...values)
    .map(({ detail }) => String(detail))
}

/** Lines of a plan that read the rows of a table, with their bodies, or all of an index. */
function bodiesRead(lines: readonly string[], table: string): string[] {
  const names = new RegExp(`^(SCAN|SEARCH) (${table})\\b`)
  return lines.filter((line) => names.test(line) && !/USING COVERING INDEX/.test(line))
}

/** True for a line that reads entries of more than one index or document; 'SCAN c' names what a co-routine found. */
function readsTooMuch(line: string): boolean {
  if (!/^(SCAN|SEARCH) [cw]\b/.test(line) || line === 'SCAN c') return false
  // Ids of all documents of a kind are short, and in the default order of lists.
  return !/\(kind=\? AND (name|id)=\?/.test(line) && !/sqlite_autoindex_document_1 \(kind=\?\)$/.test(line)
}

const WIDE = { total: 9000, documents: 10_000 }
const NARROW = { total: 5, documents: 10_000 }

const LISTS: readonly Omit<ListQuery, 'limit'>[] = [
  {},
  { order: 'name', descending: true },
  { where: { org_id: 'o' } },
  { where: { org_id: 'o', owner: ['u:1', 'g:1', '*'] }, order: 'created_at', descending: true },
  {
    where: { org_id: 'o' },
    and: [{ label: ['a=1', 'a=2'] }, { label: 'b=1' }],
    contains: { index: ['name', 'label'], part: 'x' },
  },
  { contains: { index: 'name', part: 'x' }, order: 'updated_at' },
  { where: { org_id: 'o' }, order: 'owner' },
]

test('lists of documents read indexes alone: no body, and no index from end to end', (t) => {
  const db = emptyStore(t)
  for (const query of LISTS) {
    const list = prepareList('api', { ...query, limit: 10, offset: 20 })
    for (const entries of [1, 100_000]) {
      const drive = chooseDrive(
        'api',
        list,
        () => entries,
        () => 10_000,
      )
      const statements = [
        kindSql('api'),
        totalSql('api', list, drive),
        pageSql('api', list, drive, WIDE),
        pageSql('api', list, drive, NARROW),
        valuesSql('api', list, drive, 'label'),
        valuesBySql('api', list, drive, 'category', 'name'),
        ...list.conditions.map((condition) => entriesSql('api', condition, 500)),
      ]
      for (const sql of statements) {
        const lines = plan(db, sql)
        assert.deepEqual(bodiesRead(lines, 'document|d|document c'), [], sql.text)
        assert.deepEqual(lines.filter(readsTooMuch), [], sql.text)
      }
    }
  }
})

test('values of few documents are read by what is asked of them', (t) => {
  const db = emptyStore(t)
  const list = prepareList('api', { where: { place_head: ['orders', '*'] }, limit: 0 })
  const drive = chooseDrive(
    'api',
    list,
    () => 2,
    () => 10_000,
  )
  const { text, values } = valuesBySql('api', list, drive, 'place', 'org_id')
  const [first = ''] = plan(db, { text, values }).filter((line) => /^(?:SEARCH|SCAN) /.test(line))
  assert.match(
    first,
    /^SEARCH \S+ USING .*\(kind=\? AND name=\? AND value=\?\)/,
    `${text}\n${plan(db, { text, values }).join('\n')}`,
  )
})

test('a page of many is read in its order, without sorting all of them', (t) => {
  const db = emptyStore(t)
  for (const query of LISTS.filter(({ order }) => order === undefined || order !== 'owner')) {
    const list = prepareList('api', { ...query, limit: 10 })
    const drive = chooseDrive(
      'api',
      list,
      () => 9000,
      () => 10_000,
    )
    const lines = plan(db, pageSql('api', list, drive, WIDE))
    assert.deepEqual(
      lines.filter((line) => line.includes('ORDER BY')),
      [],
      JSON.stringify(query),
    )
  }
})

test('developers of an organisation are read in order, without reading others', (t) => {
  const db = emptyStore(t)
  const where = { org_id: 'o' }
  for (const query of [
    { where, order: 'email_folded', offset: 50_000 },
    { where, order: 'date_created', descending: true },
    { where, order: 'email_folded', contains: { index: 'email', part: 'x' } },
  ]) {
    const list = prepareList('developer', { ...query, limit: 10 })
    const drive = chooseDrive(
      'developer',
      list,
      () => 100_000,
      () => 100_000,
    )
    for (const size of [WIDE, NARROW]) {
      const lines = plan(db, pageSql('developer', list, drive, size))
      assert.deepEqual(lines, ['SEARCH c USING PRIMARY KEY (kind=? AND name=? AND value>? AND value<?)'])
    }
    const [counted, ...more] = plan(db, totalSql('developer', list, drive))
    assert.match(counted!, /^SEARCH c USING PRIMARY KEY \(kind=\? AND name=\? AND value(=\?|>\? AND value<\?)\)$/)
    assert.deepEqual(more, [])
  }
})

test('a late page of a search collects matches once, and looks up no single developer', (t) => {
  const db = emptyStore(t)
  const list = prepareList('developer', {
    where: { org_id: 'o' },
    contains: { index: 'email', part: 'x' },
    order: 'date_created',
    offset: 40_000,
    limit: 10,
  })
  const walk = 'SEARCH c USING PRIMARY KEY (kind=? AND name=? AND value>? AND value<?)'
  for (const total of [90_000, 20_000]) {
    const { text, values } = pageSql('developer', list, 'part', { total, documents: 100_000 })
    assert.equal(text.includes('NOT IN'), total === 90_000)
    const lines = plan(db, { text, values }).filter((line) => /^(SCAN|SEARCH)/.test(line))
    assert.deepEqual(lines, [walk, walk])
  }
  const near = plan(db, pageSql('developer', { ...list, offset: 0 }, 'part', { total: 90_000, documents: 100_000 }))
  assert.ok(near.some((line) => line.startsWith('SEARCH w')))
})

test('what is read first is what leaves fewest documents', () => {
  const list = prepareList('api', { where: { org_id: 'o', owner: ['a', 'b'], active: 'true' }, limit: 1 })
  const entries = { org_id: 3000, owner: 2500, active: 9000 } as Record<string, number>
  const choose = (query: typeof list) =>
    chooseDrive(
      'api',
      query,
      ({ name }) => entries[name]!,
      () => 10_000,
    )
  // Several values cost more than one.
  assert.deepEqual(choose(list), list.conditions[0])
  entries.owner = 100
  assert.deepEqual(choose(list), list.conditions[1])
  const part = prepareList('api', { where: { org_id: 'o' }, contains: { index: 'name', part: 'x' }, limit: 1 })
  assert.equal(choose(part), 'part')
  entries.org_id = 10
  assert.deepEqual(choose(part), part.conditions[0])
  assert.equal(choose(prepareList('api', { limit: 1 })), 'all')
})

const WALKED: readonly SessionFilter[] = [
  {},
  { orgId: 'o' },
  { orgId: 'o', only: 'keys' },
  { only: 'keys' },
  { clientId: 'c', policyId: 'p', apiId: 'a', orgId: 'o' },
]

test('session lists read one index in order, and only the bodies of their page', (t) => {
  const db = emptyStore(t)
  for (const query of WALKED) {
    const filter = prepareSessionFilter(query)
    const page = plan(db, walkSql(filter, { after: 0, offset: 10, limit: 10, now: 1 }))
    // By the number of the row, once for the page and once, where all are listed, to see whether it may be forgotten.
    for (const line of bodiesRead(page, 's|session')) assert.match(line, /^SEARCH s USING INTEGER PRIMARY KEY/)
    const entries = page.filter((line) => /^(SCAN|SEARCH) r\d\b/.test(line))
    for (const [i, line] of entries.entries()) {
      const by = i === 0 ? 'session>\\?' : 'session=\\?'
      assert.match(line, new RegExp(`^SEARCH r${i + 1} .*USING PRIMARY KEY \\(sort=\\? AND value=\\? AND ${by}\\)$`))
    }
    assert.equal(entries.length, filter.refs.length)
    if (filter.refs.length > 1) continue
    for (const sql of [plainCountSql(filter), dueSql(filter, 1)]) {
      const lines = plan(db, sql)
      assert.deepEqual(bodiesRead(lines, 's|session'), [], `${sql.text}\n${lines.join('\n')}`)
    }
  }
})

test('sets of sessions are read by value, or singly if few, never a whole index or a body', (t) => {
  const db = emptyStore(t)
  const reach = { apiIds: ['a', 'b'], policyIds: ['p'] }
  const sources = sourcesOf(
    prepareSessionFilter({ clientId: 'c', policyId: 'p', apiId: 'a', orgId: 'o', reach, contains: 'x' }),
  )
  assert.equal(sources.length, 6)
  const values = /^SEARCH r USING PRIMARY KEY \(sort=\? AND value=\?\)$/
  const one =
    /^SEARCH (r USING PRIMARY KEY \(sort=\? AND value=\? AND session=\?\)|[as] USING INTEGER PRIMARY KEY \(rowid=\?\))$/
  const tables = (sql: Sql) => plan(db, sql).filter((line) => /^(SCAN|SEARCH) (r|a|s|session\w*)\b/.test(line))
  for (const { entries, all, among } of sources) {
    if (entries !== undefined) for (const line of [...tables(entries), ...tables(all)]) assert.match(line, values)
    else assert.deepEqual(tables(all), ['SCAN a'])
    const few = tables(among(Float64Array.of(1, 2)))
    assert.equal(few.length, 1)
    assert.match(few[0]!, one)
  }
  assert.match(plan(db, dueNumbersSql(1)).join(), /^SEARCH session USING COVERING INDEX session_by_evict_at/)
})

test('the entries about a document are found by an index of documents, each row by its number', (t) => {
  const db = emptyStore(t)
  const wrote = { kind: 'api', ids: ['a', 'b'] }
  for (const query of [{ wrote }, { wrote, orgId: 'o', from: 1, user: 'x' }]) {
    const found = auditPlan(prepareAuditQuery(query))
    for (const sql of [auditCountSql(found), auditPageSql(found, 0, 10)]) {
      const lines = plan(db, sql)
      assert.match(lines[0]!, /^SEARCH audit USING INTEGER PRIMARY KEY \(rowid=\?\)/, sql.text)
      assert.ok(
        lines.some((line) => /^SEARCH c USING COVERING INDEX audit_change_by_document/.test(line)),
        lines.join(),
      )
    }
  }
})

test('a search of the audit reads one index and no row', (t) => {
  const db = emptyStore(t)
  const queries = [
    {},
    { orgId: 'o' },
    { orgId: 'o', from: 1, to: 2 },
    { orgId: 'o', user: 'x', url: '/', status: 200, method: 'GET', ip: '1', action: 'a' },
    { user: 'x' },
  ]
  for (const query of queries) {
    const found = auditPlan(prepareAuditQuery(query))
    for (const sql of [auditCountSql(found), auditPageSql(found, 0, 10)]) {
      const lines = plan(db, sql)
      assert.match(lines[0]!, /^(SEARCH|SCAN) audit USING COVERING INDEX/, sql.text)
    }
  }
})
