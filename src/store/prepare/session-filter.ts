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
}

const ALIAS_LENGTH = 256
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
  return { refs, reach: reach && { apiIds: eachOnce(reach.apiIds), policyIds: eachOnce(reach.policyIds) }, part }
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
