import { isObject, type Json, type JsonObject } from '../../model/json/json.ts'
import {
  LEGACY_KEY,
  type LegacyAlgorithm,
  legacyAlgorithmOf,
  legacyHash,
  legacyRowHash,
  legacyToken,
} from '../../model/keys/legacy-hash.ts'
import { explicitPaths, type PathRules } from '../../model/sessions/explicit-paths.ts'
import { textAt, textsAt } from '../moves/kind.ts'
import { KEYS } from '../moves/kind-keys.ts'
import { omitMembers } from '../moves/rendered.ts'
import type { ImportCandidate, ImportRefusal, Read } from './candidate.ts'
import type { KeySpace } from './read-entries.ts'

/** The ids that keys may name. */
export interface KnownIds {
  readonly apis: ReadonlySet<string>
  readonly policies: ReadonlySet<string>
  /** Policies that keys name by another id than the one they have here. */
  readonly renamed: ReadonlyMap<string, string>
  readonly paths: PathRules
}

/** Keys that were found, and what the gateways must know to find them. */
export interface KeysRead extends Read {
  readonly algorithms: ReadonlySet<LegacyAlgorithm>
  readonly orgs: ReadonlySet<string>
  /** Organisations that they belong to there. */
  readonly organisations: ReadonlySet<string>
}

const SHOWN_DIGITS = 12

/** The keys and basic users of a key space, as our own calls take them. `raw`: the names are the keys themselves. */
export function readKeys(space: KeySpace, known: KnownIds, { raw }: { readonly raw: boolean }): KeysRead {
  const read: Read = { candidates: [], refused: [] }
  const algorithms = new Set<LegacyAlgorithm>()
  const orgs = new Set<string>()
  const organisations = new Set<string>()
  for (const [name, session] of space.sessions) {
    const place = placeOf(name, raw)
    const from = `key ${place.shown}`
    if (typeof session === 'string') {
      read.refused.push(refusal(from, session))
      continue
    }
    const result = keyIn(session, { name, place, from, known })
    if ('why' in result) {
      read.refused.push(result)
      continue
    }
    const used = space.used.get(name)
    read.candidates.push({ ...result, body: { ...result.body, ...(used && { quota_used: { ...used } }) } })
    const org = textAt(session, 'org_id')
    if (org !== '') organisations.add(org)
    if (result.body.user_name !== undefined || !needsForms(name, org, place)) continue
    algorithms.add(place.algorithm)
    if (org !== '') orgs.add(org)
  }
  return { ...read, algorithms, orgs, organisations }
}

/** Source and destination of a key. */
interface Place {
  readonly algorithm: LegacyAlgorithm
  readonly hex: string
  /** The key itself where its name says it. */
  readonly key: string | undefined
  readonly shown: string
}

function placeOf(name: string, raw: boolean): Place {
  const algorithm = raw ? undefined : legacyAlgorithmOf(name)
  if (algorithm !== undefined) return { algorithm, hex: name, key: undefined, shown: `${algorithm}:${name}` }
  const hex = legacyHash('sha256', name)
  // The key itself is a secret, and reports are kept.
  return { algorithm: 'sha256', hex, key: name, shown: `sha256:${hex.slice(0, SHOWN_DIGITS)}...` }
}

/** A key that is used exactly as it was stored is found by its SHA-256, as ours are. */
function needsForms(name: string, org: string, { key, algorithm }: Place): boolean {
  if (key === undefined) return algorithm !== 'sha256' || org !== ''
  const chosen = legacyToken(key)?.id ?? (org !== '' && name.startsWith(org) ? name.slice(org.length) : '')
  return chosen !== '' && !/^[0-9a-f]{32}$/.test(chosen)
}

interface Given {
  readonly name: string
  readonly place: Place
  readonly from: string
  readonly known: KnownIds
}

function keyIn(sent: JsonObject, given: Given): ImportCandidate | ImportRefusal {
  const { place, from } = given
  if (textAt(sent, 'oauth_client_id') !== '')
    return refusal(
      from,
      `is an access token of OAuth client ${textAt(sent, 'oauth_client_id')}, which asks for another`,
    )
  const changes: string[] = []
  const rights = knownRights(sent.access_rights, given.known, changes)
  const policies = policiesOf(sent).map((id) => given.known.renamed.get(id) ?? id)
  const missing = policies.filter((id) => !given.known.policies.has(id))
  if (missing.length > 0) return refusal(from, `names policies that are not there: ${missing.join(', ')}`)
  if (Object.keys(rights).length === 0 && policies.length === 0)
    return refusal(
      from,
      changes.length === 0
        ? 'is a master key, which opens everything: make one with rights or policies'
        : 'has rights only on APIs that are not there',
    )
  for (const [at, id] of policiesOf(sent).entries())
    if (policies[at] !== id) changes.push(`policy ${id} is named ${policies[at]}`)
  const org = textAt(sent, 'org_id')
  const session = { ...sent, access_rights: rights, apply_policies: policies }
  const data = sent.basic_auth_data
  if (isObject(data) && textAt(data, 'password') !== '') return userIn(session, data, { ...given, org, changes })
  const body = KEYS.normal({
    key_hash: legacyRowHash(place.algorithm, place.hex).toString('hex'),
    session,
    [LEGACY_KEY]: `${place.algorithm}:${place.hex}`,
    ...(place.key !== undefined && { key: place.key }),
  })
  return { kind: KEYS, identity: textAt(body, 'key_hash'), from, body, changes }
}

/** A user is known by name and password; the hash of both ids says neither. */
function userIn(
  session: JsonObject,
  data: JsonObject,
  { name, place, from, org, changes }: Given & { readonly org: string; readonly changes: readonly string[] },
): ImportCandidate | ImportRefusal {
  if (place.key === undefined)
    return refusal(from, 'is a basic user, whose name its hash does not tell: create it again')
  const type = textAt(data, 'hash_type')
  const password = textAt(data, 'password')
  if (type !== '' && type !== 'bcrypt')
    return refusal(from, `is a basic user whose password is kept as ${type}: create it again with its password`)
  const user = legacyToken(name)?.id ?? (name.startsWith(org) ? name.slice(org.length) : name)
  const body = KEYS.normal({
    user_name: user,
    password_hash: password,
    session: { ...session, basic_auth_data: omitMembers(data, 'password', 'hash_type') },
  })
  return { kind: KEYS, identity: textAt(body, 'key_hash'), from: `basic user ${user}`, body, changes }
}

/** The rights on APIs that are there; the others meant nothing. */
export function knownRights(
  rights: Json | undefined,
  { apis, paths }: Pick<KnownIds, 'apis' | 'paths'>,
  changes: string[],
): JsonObject {
  const entries = isObject(rights) ? Object.entries(rights) : []
  for (const [id] of entries) if (!apis.has(id)) changes.push(`the right on API ${id} is left out, which is not there`)
  const known = Object.fromEntries(entries.filter(([id]) => apis.has(id)))
  const { rights: written, changed } = explicitPaths(known, paths)
  for (const { apiId, lists } of changed)
    changes.push(`paths of the right on API ${apiId} (${lists.join(', ')}) are written out`)
  return written
}

function policiesOf(session: JsonObject): string[] {
  const list = textsAt(session, 'apply_policies')
  const single = textAt(session, 'apply_policy_id')
  return list.length > 0 || single === '' ? list : [single]
}

function refusal(from: string, why: string): ImportRefusal {
  return { from, why }
}
