import { Fault, fault } from '../../../errors/fault.ts'

// SQLSTATE codes, https://www.postgresql.org/docs/current/errcodes-appendix.html
/** A table, or the schema that it is looked for in, is not there. */
const GONE = new Set(['42P01', '3F000'])
const DISK_FULL = '53100'
const TOO_MANY_CONNECTIONS = '53300'
/** The server is a standby, or takes no writes for another reason. */
export const READ_ONLY = '25006'
export const WRONG_PASSWORD = '28P01'
/** The client could not connect: it may try again. */
export const UNCONNECTED = '08001'
/** Sign-in, privileges, no such database. */
const REFUSED = new Set(['28000', WRONG_PASSWORD, '3D000', '42501'])
/** The server goes, comes up, has no room for another connection, was promoted elsewhere, or ended a transaction that was idle for too long. */
const AWAY = new Set(['57P01', '57P02', '57P03', '57P05', TOO_MANY_CONNECTIONS, '25P03', READ_ONLY])
/** Other transactions are in the way: a statement was cancelled, waited too long for a lock, or met a deadlock. */
const SLOW = new Set(['57014', '55P03', '40001', '40P01'])
const SYSTEM = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END'],
])
const LOST_TEXT =
  /^(?:Connection terminated|Client has encountered a connection error|Client was closed|timeout (?:expired|exceeded)|Query read timeout)/
/** Of PgBouncer (08P01) and Supavisor (XX000), which have no code of their own for it. */
const NO_ROOM_TEXT = /no more connections allowed|max client connections reached|query_wait_timeout/i
const CLOSED_TEXT = /^Cannot use a pool after calling end/

/** Node's errors for untrusted certificates. */
const UNTRUSTED = /CERT|^UNABLE_TO_|^ERR_(?:TLS|SSL)_/
const NO_TLS_TEXT = /^The server does not support SSL connections/

/** The SQLSTATE of what a statement threw, also when it was made a fault; undefined for anything else. */
export function sqlState(error: unknown): string | undefined {
  const original = error instanceof Fault ? error.cause : error
  if (!(original instanceof Error) || !('code' in original) || typeof original.code !== 'string') return undefined
  // Each has a digit; EPIPE has none.
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(original.code) ? original.code : undefined
}

/** True when the connection is gone, or none could be made: what was asked may be asked again on another. */
export function isLost(error: unknown): boolean {
  const original = error instanceof Fault ? error.cause : error
  if (original instanceof AggregateError) return original.errors.some(isLost)
  if (!(original instanceof Error)) return false
  const state = sqlState(original)
  if (state !== undefined) return AWAY.has(state) || state.startsWith('08')
  const code = 'code' in original ? String(original.code) : ''
  return SYSTEM.has(code) || LOST_TEXT.test(original.message)
}

/** True when the server, or a pooler before it, answered that it has no room for another connection: those that are there may work. */
export function hasNoRoom(error: unknown): boolean {
  const original = error instanceof Fault ? error.cause : error
  if (sqlState(original) === undefined) return false
  return sqlState(original) === TOO_MANY_CONNECTIONS || NO_ROOM_TEXT.test((original as Error).message)
}

/** True when the server answered that the tables of the store are not there, or that the row is gone that every store has. */
export function isEmptied(error: unknown): boolean {
  return (error instanceof Fault && error.code === 'store_emptied') || GONE.has(sqlState(error) ?? '')
}

/** Turns what the client threw into a fault: `store_away`, `store_refused`, `store_full`, `store_emptied`, otherwise `internal`. */
export function postgresFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  const detail = `PostgreSQL: ${textOf(error)}`
  if (isLost(error)) return fault('store_away', detail, error)
  if (error instanceof Error && CLOSED_TEXT.test(error.message))
    return fault('store_away', 'the store is closed', error)
  const state = sqlState(error) ?? ''
  if (SLOW.has(state)) return fault('store_away', detail, error)
  if (REFUSED.has(state) || isUntrusted(error)) return fault('store_refused', detail, error)
  if (GONE.has(state)) return fault('store_emptied', detail, error)
  if (state === DISK_FULL) return fault('store_full', detail, error)
  return fault('internal', detail, error)
}

function isUntrusted(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return NO_TLS_TEXT.test(error.message) || ('code' in error && UNTRUSTED.test(String(error.code)))
}

function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return textOf(error.errors[0])
  const state = sqlState(error)
  const text = error instanceof Error ? error.message : String(error)
  return state === undefined ? text : `${text} (${state})`
}
