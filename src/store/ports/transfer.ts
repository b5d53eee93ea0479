import { HIT_DIMENSIONS } from '../../model/analytics/dimensions.ts'
import { BUCKETS } from '../../model/analytics/hit.ts'
import type { Revision } from './changes.ts'

// How all data of a store moves: into an archive, out of one, or from one kind of store into another. A store is a few tables of
// rows that are the same for every adapter. What an adapter derives from them (indexes, sums of months) it derives again.

/** `bytes?` may be null. */
export type CellType = 'text' | 'number' | 'bytes' | 'bytes?'
export type Cell = string | number | Uint8Array | null
/** A value for each column of the table. */
export type TransferRow = readonly Cell[]

interface TransferTable {
  readonly columns: Readonly<Record<string, CellType>>
  /** The part of a backup that the table belongs to, and may be left out with; absent = none. */
  readonly part?: TransferPart
}

/** Parts that a backup may be made without. */
export type TransferPart = 'analytics' | 'audit' | 'records'
export const TRANSFER_PARTS: readonly TransferPart[] = ['analytics', 'audit', 'records']

const latency = (prefix: 't' | 'u') => [
  ...['sum', 'min', 'max'].map((name) => `${prefix}_${name}`),
  ...Array.from({ length: BUCKETS }, (_, i) => `${prefix}${i}`),
]
const numbers = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'number' as const]))
const texts = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 'text' as const]))
const HIT_NUMBERS = ['count', 'success', 'error', 'last_at', ...latency('t'), ...latency('u')]
const hits = (time: 'minute' | 'hour' | 'day') => ({
  columns: numbers([time, 'dimension', 'status', ...HIT_NUMBERS]),
  part: 'analytics' as const,
})

/** Every table, in the order in which they are written. Times are Unix milliseconds unless their name says otherwise. */
const TRANSFER_TABLES = {
  /** `body` as JSON. Sealed members stay sealed. */
  document: { columns: { kind: 'text', id: 'text', revision: 'number', body: 'text' } },
  /** `number`: in the order of creation. `links`: JSON of `[API ids, policy ids]`. */
  session: {
    columns: {
      ...{ number: 'number', hash: 'bytes', org_id: 'text', client_id: 'text', links: 'text', evict_at: 'number' },
      ...{ sealed_key: 'bytes', family: 'text', body: 'text' },
    },
  },
  ticket: {
    columns: {
      ...{ hash: 'bytes', sort: 'text', api_id: 'text', client_id: 'text', family: 'text', expires_at: 'number' },
      ...{ keep_until: 'number', version: 'number', claimed_at: 'number', body: 'text' },
    },
  },
  /** The outbox. `dead`: 0 or 1. */
  delivery: {
    columns: {
      ...{ id: 'number', dead: 'number', queue: 'text', next_at: 'number', attempts: 'number', created_at: 'number' },
      ...{ error: 'text', sealed: 'bytes' },
    },
  },
  /** Used permits. `ends_at`: 0 = never, or not known before the next call. */
  quota: { columns: { id: 'text', used: 'number', ends_at: 'number' } },
  audit: {
    columns: {
      ...{ number: 'number', revision: 'number', at: 'number', actor: 'text', action: 'text', org_id: 'text' },
      ...{ detail: 'text', request: 'text', user: 'text', method: 'text', path: 'text', ip: 'text', status: 'number' },
    },
    part: 'audit',
  },
  /** In the order of the changes of each entry. */
  audit_change: { columns: { audit: 'number', kind: 'text', id: 'text', bodies: 'bytes' }, part: 'audit' },
  /** `number` is what all tables of hits name a set of dimensions by. */
  hit_dimension: {
    columns: { number: 'number', ...texts(Object.values(HIT_DIMENSIONS).map(({ column }) => column)) },
    part: 'analytics',
  },
  hit_dimension_use: { columns: { dimension: 'number', coarse: 'number', last_day: 'number' }, part: 'analytics' },
  hit: hits('hour'),
  hit_day: hits('day'),
  hit_api: hits('hour'),
  hit_api_day: hits('day'),
  hit_minute: hits('minute'),
  /** One row: the minute from which on all requests are in `hit_minute`. */
  hit_minute_state: { columns: { one: 'number', from_minute: 'number' }, part: 'analytics' },
  /** Requests that are in no table of hits yet: four little-endian words each, see `HitSamples`. */
  hit_journal: { columns: { hour: 'number', samples: 'bytes' }, part: 'analytics' },
  /** `at_s`: Unix seconds. */
  hit_source: { columns: { source: 'text', number: 'number', at_s: 'number' }, part: 'analytics' },
  record: {
    columns: {
      ...{ number: 'number', at: 'number', org_id: 'text', api_id: 'text', status: 'number', method: 'text' },
      ...{ key_hash: 'text', client_id: 'text', tags: 'text', path: 'text', fields: 'text' },
      ...{ request_id: 'text', request: 'bytes?', response: 'bytes?' },
    },
    part: 'records',
  },
  record_dropped: {
    columns: { minute: 'number', org_id: 'text', api_id: 'text', count: 'number' },
    part: 'records',
  },
} as const satisfies Readonly<Record<string, TransferTable>>

export type TransferTableName = keyof typeof TRANSFER_TABLES
export const TRANSFER_TABLE_NAMES = Object.keys(TRANSFER_TABLES) as readonly TransferTableName[]

/** Tables that have a row in an empty store, which one that is loaded replaces. */
export const STATE_TABLE_NAMES: readonly TransferTableName[] = ['hit_minute_state']

/** How many of the first columns of a table name a row; 0 = none do. Several changes of one audit entry have one name. */
const KEY_COLUMNS: Readonly<Record<TransferTableName, number>> = {
  ...{ document: 2, session: 1, ticket: 1, delivery: 1, quota: 1, audit: 1, audit_change: 1 },
  ...{ hit_dimension: 1, hit_dimension_use: 1, hit: 3, hit_day: 3, hit_api: 3, hit_api_day: 3, hit_journal: 0 },
  ...{ hit_minute: 3, hit_minute_state: 1 },
  ...{ hit_source: 1, record: 1, record_dropped: 3 },
}

/** Names and types of the columns that name a row of a table. */
export function keyColumnsOf(table: TransferTableName): readonly (readonly [name: string, type: CellType])[] {
  return columnsOf(table).slice(0, KEY_COLUMNS[table])
}

/** Names and types of the columns of a table, in order. */
export function columnsOf(table: TransferTableName): readonly (readonly [name: string, type: CellType])[] {
  return Object.entries(TRANSFER_TABLES[table].columns)
}

/** The tables that are left when some parts are. */
export function tablesWithout(parts: readonly TransferPart[]): readonly TransferTableName[] {
  return TRANSFER_TABLE_NAMES.filter((name) => {
    const { part }: TransferTable = TRANSFER_TABLES[name]
    return part === undefined || !parts.includes(part)
  })
}

/** The last numbers that a store has given out: rows that are gone may have had higher ones than those that are left. */
export interface StoreHead {
  /** Of the last commit. */
  readonly revision: Revision
  readonly lastSession: number
  readonly lastDelivery: number
  readonly lastAudit: number
  readonly lastRecord: number
}

/** All data of a store as it was at one moment. Quota counts of a cluster are read a moment later. */
export interface StoreSnapshot {
  readonly head: StoreHead
  /** How many rows a table has, about: for progress. */
  count(table: TransferTableName): Promise<number>
  /** The rows of a table, in the order of their numbers, in batches. One table at a time. */
  rows(table: TransferTableName): AsyncIterable<readonly TransferRow[]>
  /** Absent where rows are read as fast as their digests, and of tables without key columns. */
  readonly digests?: RowDigests
}

/** Rows by what names them, so that those that changed between two snapshots of a source are found without reading all. */
export interface RowDigests {
  /** Answers undefined for a table whose rows have to be compared whole. Digests are below 2^53, and mean something to their source alone. */
  of(table: TransferTableName): AsyncIterable<readonly (readonly [key: TransferRow, digest: number])[]> | undefined
  /** The rows of these keys, in the order of the table. */
  rows(table: TransferTableName, keys: readonly TransferRow[]): Promise<readonly TransferRow[]>
}

/** A store to read from, whether it serves or not. */
export interface TransferSource {
  /** Reads one consistent snapshot; others write meanwhile. @throws Fault `store_away`, `store_damaged`, `store_newer` */
  snapshot<T>(read: (snapshot: StoreSnapshot) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** How much of its writes a store takes: all, none but counts of requests, or none. */
export type FreezeLevel = 'none' | 'commits' | 'all'

/** A store that other processes serve from, whose writes can be stopped. */
export interface MovedSource extends TransferSource {
  /** Keeps other moves of the store away, on whatever machine they are started, until `close`. @throws Fault `move_running`, `store_away` */
  claim(): Promise<void>
  /**
   * Refuses writes with `store_frozen` in every process that serves from the store, from now on and after a restart, until it is lifted.
   * @throws Fault `store_away`
   */
  freeze(level: FreezeLevel): Promise<void>
  /** @throws Fault `store_away` */
  isFrozen(): Promise<boolean>
}

/** Adds rows of one table. */
export type WriteRows = (table: TransferTableName, rows: readonly TransferRow[]) => Promise<void>

/** Corrects what was written in the same load. */
export interface LoadEdit {
  /** Deletes rows by their `keyColumnsOf`. Not for quotas. */
  remove(table: TransferTableName, keys: readonly TransferRow[]): Promise<void>
  /** Rows of a table as they are now. Not of quotas. */
  count(table: TransferTableName): Promise<number>
  /** Makes durable what was written so far, so that the end of the load has little left to do. */
  settle(): Promise<void>
}

/** An empty store to write into, which nobody serves from. */
export interface TransferTarget {
  /**
   * Fills the store: everything that `fill` writes and the head that it answers, or nothing. A table is written in the order of its
   * rows, each row once. @throws Fault `store_not_empty`, `store_full`, `store_away`, and what `fill` throws
   */
  load(fill: (write: WriteRows) => Promise<StoreHead>): Promise<void>
  close(): Promise<void>
}

/** One whose rows can be corrected before they are visible. */
export interface MovedTarget extends TransferTarget {
  load(fill: (write: WriteRows, edit: LoadEdit) => Promise<StoreHead>): Promise<void>
}
