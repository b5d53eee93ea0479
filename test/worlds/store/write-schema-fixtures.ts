// node scripts/run.mjs test/worlds/store/write-schema-fixtures.ts: writes a dump of the newest schema of each store, where there is none.
// To be run, and its files committed, with every new step of a schema.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { startPostgres } from '../../../scripts/servers.mjs'
import { MemoryCounters } from '../../../src/store/memory/counters.ts'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { SCHEMA_STEPS } from '../../../src/store/postgres/migrations/migrate.ts'
import { openStore } from '../../../src/store/sqlite/connection/open.ts'
import { MIGRATIONS } from '../../../src/store/sqlite/migrations/schema.ts'
import { dumpSqlite, FIXTURES, fill, fixtureClock } from './schema-fixtures.ts'

/** A version of Debian: the development dependency has no pg_dump. */
const POSTGRES = 15

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-schemas-'))
try {
  await writeNew(`sqlite-${MIGRATIONS.length}.sql`, sqliteDump)
  await writeNew(`postgres-${SCHEMA_STEPS.length}.sql`, postgresDump)
} finally {
  rmSync(folder, { recursive: true })
}

async function writeNew(name: string, dump: () => Promise<string>): Promise<void> {
  const file = join(FIXTURES, name)
  if (existsSync(file)) return console.log(`${name} is there, and does not change`)
  writeFileSync(file, await dump())
  console.log(`wrote ${name}`)
}

async function sqliteDump(): Promise<string> {
  const store = await openStore({ path: folder, clock: fixtureClock() })
  await fill(store)
  await store.close()
  const db = new DatabaseSync(join(folder, 'gatehouse.db'))
  try {
    return dumpSqlite(db)
  } finally {
    db.close()
  }
}

async function postgresDump(): Promise<string> {
  const server = await startPostgres({ version: POSTGRES })
  try {
    const clock = fixtureClock()
    const store = await openPostgresStore({ url: server.url(), clock, counters: new MemoryCounters(clock) })
    await fill(store)
    await store.close()
    return dumpOf(server.folder, 'postgres')
  } finally {
    await server.stop()
  }
}

function dumpOf(host: string, database: string): string {
  const words = [
    '--inserts',
    '--no-owner',
    '--no-privileges',
    '--no-comments',
    `--host=${host}`,
    '--username=gatehouse',
  ]
  const { status, stdout, stderr } = spawnSync(`/usr/lib/postgresql/${POSTGRES}/bin/pg_dump`, [...words, database], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  // Lines for psql, comments, and settings of the session.
  const kept = stdout.split('\n').filter((line) => !/^(\\|--|SET |SELECT pg_catalog\.set_config|$)/.test(line))
  return `${kept.join('\n')}\n`
}
