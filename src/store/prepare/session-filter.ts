import type { Json } from '../../model/json/json.ts'
import { foldCase } from '../../model/text/fold.ts'
import type { SessionFilter, SessionReach } from '../ports/ports.ts'
import { wellFormed } from './cells.ts'

/** The filters of sessions. `key`: those that are no tokens of clients, as `keyIndexEntries` says. */
export type SessionRefType = 'client' | 'policy' | 'api' | 'key' | 'org'

/** A session matches when it is filed under the value. */
export interface SessionCondition {
  readonly sort: SessionRefType
  readonly value: string
}

export interface PreparedSessionFilter {
  /** Those that leave fewest rows first: their rows are walked, the others looked up. */
  readonly refs: readonly SessionCondition[]
  /** Each id once; undefined = any. */
  readonly reach: SessionReach | undefined
  /** Folded part of the alias; '' = any. */
  readonly part: string
  /** Those whose hash begins with the part match too; undefined where it is no beginning of a hash. */
  readonly hashes: HashRange | undefined
}

/** Hashes from one to another, both included. */
export interface HashRange {
  readonly low: Uint8Array
  readonly high: Uint8Array
}

const ALIAS_LENGTH = 256
/** Fewer digits would be found in the hash of every other key. */
const HASH_BEGINNING = /^[0-9a-f]{4,64}$/
const HASH_DIGITS = 64
const ALL_KEYS = [''] as const

/** Checks and copies a filter. @throws Fault `internal` for a malformed one (a mistake of the calling code) */
export function prepareSessionFilter(filter: SessionFilter): PreparedSessionFilter {
  const refs: SessionCondition[] = []
  const add = (sort: SessionRefType, value: string | undefined) => {
    if (value !== undefined) refs.push({ sort, value: wellFormed(value) })
  }
  add('client', filter.clientId)
  add('policy', filter.policyId)
  add('api', filter.apiId)
  const [all] = ALL_KEYS
  if (filter.only !== 'keys') add('org', filter.orgId)
  else add('key', filter.orgId === undefined ? all : ofOrg(filter.orgId))
  const part = foldCase(wellFormed(filter.contains ?? '')).slice(0, ALIAS_LENGTH + 1)
  const { reach } = filter
  return {
    refs,
    reach: reach && { apiIds: eachOnce(reach.apiIds), policyIds: eachOnce(reach.policyIds) },
    part,
    hashes: rangeOf(part),
  }
}

function rangeOf(beginning: string): HashRange | undefined {
  if (!HASH_BEGINNING.test(beginning)) return undefined
  const filledWith = (digit: string) => Buffer.from(beginning.padEnd(HASH_DIGITS, digit), 'hex')
  return { low: filledWith('0'), high: filledWith('f') }
}

/** The index values of a key: one for all, and one of its organisation. */
export function keyIndexEntries(orgId: string): readonly string[] {
  return [...ALL_KEYS, ofOrg(orgId)]
}

/** The alias of a session as it is searched; '' for none. */
export function foldedAlias(alias: Json | undefined): string {
  return typeof alias === 'string' ? foldCase(wellFormed(alias)).slice(0, ALIAS_LENGTH) : ''
}

function eachOnce(ids: readonly string[]): string[] {
  return [...new Set(ids.map(wellFormed))]
}

function ofOrg(orgId: string): string {
  return `=${orgId}`
}
