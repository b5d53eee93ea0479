import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { startPostgres, type ThrowAwayPostgres } from '../../../scripts/servers.mjs'
import { openPostgresStore } from '../../../src/store/postgres/connection/open.ts'
import { eventually } from '../base/eventually.ts'

// Throw-away PostgreSQL for tests: one server for each test file that asks, and a database for each store.

const DEADLOCK = '40P01'

interface Prepared {
  readonly server: ThrowAwayPostgres
  /** Database with all tables, which others are copied from. */
  readonly template: string
  made: number
}

const servers = new Map<number, Promise<Prepared>>()

/** Address of an empty database with all tables, on a server of this process. `version`: 18, or one that Debian has. */
export async function freshDatabase(version = 18): Promise<string> {
  const prepared = await preparedServer(version)
  // Not through the log of changes: that takes three times as long.
  return makeDatabase(prepared, `TEMPLATE ${prepared.template} STRATEGY file_copy`)
}

/** Address of a database without tables, on the same server. */
export async function emptyDatabase(version = 18): Promise<string> {
  return makeDatabase(await preparedServer(version), '')
}

function preparedServer(version: number): Promise<Prepared> {
  const known = servers.get(version) ?? prepare(version)
  servers.set(version, known)
  return known
}

/** Address of the database `postgres` of several servers, given by the folders of their sockets. */
export function urlOfHosts(servers: readonly { readonly folder: string }[]): string {
  const folders = servers.map(({ folder }) => folder).join(',')
  return `postgres://gatehouse@localhost/postgres?host=${encodeURIComponent(folders)}`
}

/** Runs one statement on a separate connection. */
export async function runSql<Row extends object>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client(url)
  await client.connect()
  try {
    return (await client.query(text, values)).rows as Row[]
  } finally {
    await client.end()
  }
}

/**
 * Keeps what a database holds now. Answers the function that puts it back in one transaction, as the restore of a dump does: the
 * database, its connections and its clients stay.
 */
export async function keepDatabase(url: string): Promise<() => Promise<void>> {
  // Rows of a partitioned table are in its partitions.
  const named = await runSql<{ name: string }>(
    url,
    "SELECT quote_ident(relname) AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
  )
  const tables = named.map(({ name }) => name)
  const kept = `kept_${randomUUID().replaceAll('-', '')}`
  const copies = tables.map((name) => `CREATE TABLE ${kept}.${name} AS TABLE public.${name};`)
  await runSql(url, `BEGIN ISOLATION LEVEL REPEATABLE READ; CREATE SCHEMA ${kept}; ${copies.join('')} COMMIT`)
  const back = tables.map((name) => `INSERT INTO public.${name} OVERRIDING SYSTEM VALUE TABLE ${kept}.${name};`)
  const emptied = `TRUNCATE ${tables.map((name) => `public.${name}`).join(',')};`
  // Statements of running processes may be waiting for each other with this one.
  return () =>
    eventually('the database is put back', async () => {
      try {
        await runSql(url, `BEGIN; ${emptied} ${back.join('')} COMMIT`)
        return true
      } catch (error) {
        if ((error as { code?: unknown }).code !== DEADLOCK) throw error
        return false
      }
    })
}

/** Has every transaction that begins from now on read only, or write as well. */
export async function setReadOnly(server: ThrowAwayPostgres, value: 'on' | 'off'): Promise<void> {
  await runSql(server.url(), `ALTER SYSTEM SET default_transaction_read_only = ${value}`)
  await runSql(server.url(), 'SELECT pg_reload_conf()')
}

/** Sends a signal to every process of a server: SIGSTOP makes it hang. */
export function signalPostgres({ folder }: ThrowAwayPostgres, signal: NodeJS.Signals): void {
  const postmaster = Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0])
  const parentOf = (pid: string) => {
    try {
      return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1])
    } catch {
      return 0
    }
  }
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === postmaster)
  for (const pid of [postmaster, ...children.map(Number)]) process.kill(pid, signal)
}

async function prepare(version: number): Promise<Prepared> {
  const server = await startPostgres({ version })
  const template = 'prepared'
  await runSql(server.url(), `CREATE DATABASE ${template}`)
  const store = await openPostgresStore({ url: server.url(template) })
  await store.close()
  return { server, template, made: 0 }
}

async function makeDatabase(prepared: Prepared, how: string): Promise<string> {
  const name = `made_${prepared.made++}`
  await runSql(prepared.server.url(), `CREATE DATABASE ${name} ${how}`)
  return prepared.server.url(name)
}
