import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { prepareList } from '../../src/store/list-query.ts'
import type { ListQuery, SessionFilter } from '../../src/store/ports.ts'
import { prepareAuditQuery } from '../../src/store/prepare-audit.ts'
import { prepareSessionFilter } from '../../src/store/session-filter.ts'
import { auditCountSql, auditPageSql, auditPlan } from '../../src/store/sqlite/audit-plan.ts'
import { openWritable } from '../../src/store/sqlite/database.ts'
import {
  chooseDrive,
  entriesSql,
  kindSql,
  pageSql,
  type Sql,
  totalSql,
  valuesSql,
} from '../../src/store/sqlite/list-plan.ts'
import {
  canWalk,
  countSql,
  dueSql,
  fewCountSql,
  firstEntriesSql,
  plainCountSql,
  sortedSql,
  walkSql,
} from '../../src/store/sqlite/session-plan.ts'
import { temporaryFolder } from '../contract/adapters.ts'

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
  // Ids of all documents of a kind are short, and stand in the order that lists without another one have.
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
        list,
        () => entries,
        () => 10_000,
      )
      const statements = [
        kindSql('api'),
        totalSql('api', list, drive),
        pageSql('api', list, drive, WIDE),
        pageSql('api', list, drive, NARROW),
        valuesSql('api', list, drive, 'label', 10),
        ...list.conditions.map((condition) => entriesSql('api', condition)),
      ]
      for (const sql of statements) {
        const lines = plan(db, sql)
        assert.deepEqual(bodiesRead(lines, 'document|d|document c'), [], sql.text)
        assert.deepEqual(lines.filter(readsTooMuch), [], sql.text)
      }
    }
  }
})

test('a page of many is read in its order, without sorting all of them', (t) => {
  const db = emptyStore(t)
  for (const query of LISTS.filter(({ order }) => order === undefined || order !== 'owner')) {
    const list = prepareList('api', { ...query, limit: 10 })
    const drive = chooseDrive(
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

test('what is read first is what leaves fewest documents', () => {
  const list = prepareList('api', { where: { org_id: 'o', owner: ['a', 'b'], active: 'true' }, limit: 1 })
  const entries = { org_id: 3000, owner: 2500, active: 9000 } as Record<string, number>
  const choose = (query: typeof list) =>
    chooseDrive(
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

/** True for a line that reads entries of more than one value; aliases are read one after the other, in the order of sessions. */
function readsMoreSessions(line: string): boolean {
  if (/^(SCAN|SEARCH) (session_ref|r\d)\b/.test(line)) return !/\(sort=\? AND value=\?/.test(line)
  return /^SCAN (s|a)\b/.test(line)
}

const FILTERS: readonly SessionFilter[] = [
  {},
  { orgId: 'o' },
  { orgId: 'o', only: 'keys' },
  { orgId: 'o', only: 'keys', contains: 'x' },
  { only: 'keys' },
  { only: 'keys', apiId: 'a', contains: 'x' },
  { apiId: ['a', 'b'], orgId: 'o' },
  { clientId: 'c', policyId: 'p', apiId: 'a', orgId: 'o' },
]

test('lists of sessions read the bodies of their page alone', (t) => {
  const db = emptyStore(t)
  const page = { after: 0, offset: 10, limit: 10, now: 1 }
  for (const query of FILTERS) {
    const filter = prepareSessionFilter(query)
    const { refs, part } = filter
    const counts = [
      ...(refs.length < 2 && part === '' ? [plainCountSql(filter), dueSql(filter, 1)] : []),
      ...(refs.length > 0 ? [fewCountSql(filter, 1), firstEntriesSql(filter)] : []),
      ...(refs.length > 0 || part !== '' ? [countSql(filter, 1)] : []),
    ]
    for (const sql of counts) {
      const lines = plan(db, sql)
      assert.deepEqual(bodiesRead(lines, 's|session'), [], `${sql.text}\n${lines.join('\n')}`)
      assert.deepEqual(lines.filter(readsMoreSessions), [], sql.text)
    }
    const lines = plan(db, canWalk(filter) ? walkSql(filter, page) : sortedSql(filter, page))
    // By the number of the row, once for the page and once, on the walk, to see whether it may be forgotten.
    for (const line of bodiesRead(lines, 's|session')) assert.match(line, /^SEARCH s USING INTEGER PRIMARY KEY/)
    assert.deepEqual(lines.filter(readsMoreSessions), [], lines.join('\n'))
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
