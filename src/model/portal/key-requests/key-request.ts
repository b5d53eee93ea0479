import { fault } from '../../../errors/fault.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import { isDateTime } from '../../time/date-time.ts'
import { objectMember, refuseMember, textMember, textsMember } from '../settings/portal-fields.ts'

/** A developer's wish for a key, as it is stored; unknown members are kept. */
export interface KeyRequest {
  readonly org_id: string
  /** API of requests of the first version; kept, nothing looks at it. */
  readonly for_api: string
  /** The first policy, for older readers. */
  readonly for_plan: string
  /** Ids of policies, each by the `id` that keys name it by. */
  readonly apply_policies: readonly string[]
  /** Id of the developer. */
  readonly by_user: string
  readonly fields: Readonly<Record<string, string>>
  /** True once it is approved, be the key collected or not. Nobody sets it from outside. */
  readonly approved: boolean
  readonly date_created: string
  readonly version: string
  readonly oauth_info: { readonly redirect_uri: string }
}

/** A request as it came over the wire: `policies` by whichever of their ids the caller wrote. */
export interface KeyRequestDraft {
  readonly body: JsonObject
  readonly policies: readonly string[]
  readonly by_user: string
}

/** Shown where none is known. */
const NO_DATE = '0001-01-01T00:00:00Z'
const MOST_POLICIES = 50
const LONGEST_ID = 256
/** Members that are ours to say, and secrets, which are not kept. */
const OURS = ['id', '_id', 'org_id', 'approved', 'portal_developer', 'catalogue_entry', 'catalogues'] as const
/** Members that ask for a type of key that the gateway does not support. */
const UNSERVED = { jwt_secret: 'JWT', certificate: 'certificate', hmac_secret: 'HMAC' } as const

/**
 * Reads a request from the wire; what is not sent is as in `before`. `apply_policies` beats `for_plan`; `approved` is passed over.
 * @throws Fault `portal_invalid` (400) naming the field, `access_unserved` (400) naming the sort of key
 */
export function readKeyRequest(sent: JsonObject, before: JsonObject = {}): KeyRequestDraft {
  for (const [name, sort] of Object.entries(UNSERVED)) {
    if (textMember(sent, name, { longest: 65_536, lines: true }) !== '') throw fault('access_unserved', sort)
  }
  const all: JsonObject = { ...before, ...sent }
  for (const name of OURS) delete all[name]
  const { redirect_uri, ...info } = objectMember(all, 'oauth_info')
  const body: JsonObject = {
    ...all,
    for_api: textMember(all, 'for_api'),
    fields: textsMember(all, 'fields'),
    version: textMember(all, 'version', { usual: 'v2' }) || 'v2',
    jwt_secret: '',
    certificate: '',
    oauth_info: {
      ...info,
      redirect_uri: textMember({ redirect_uri: redirect_uri ?? '' }, 'redirect_uri', { longest: 2048 }),
    },
  }
  // One that was stored before dates were checked is taken as it is.
  if (sent.date_created !== undefined && sent.date_created !== before.date_created) checkDate(sent)
  return { body, policies: policiesIn(sent, before), by_user: textMember(all, 'by_user') }
}

/** A request as callers see it; what it is about is added by who reads it. */
export function requestShape(id: string, body: JsonObject): JsonObject {
  const blank: JsonObject = {
    org_id: '',
    for_api: '',
    for_plan: '',
    apply_policies: [],
    by_user: '',
    fields: {},
    approved: false,
    date_created: NO_DATE,
    version: 'v2',
    jwt_secret: '',
    certificate: '',
    oauth_info: { redirect_uri: '' },
  }
  return { id, _id: id, ...blank, ...body, date_created: momentOf(body.date_created) }
}

/** The policies of a stored request. */
export function requestedPolicies({ apply_policies: ids }: JsonObject): string[] {
  return Array.isArray(ids) ? ids.filter((id) => typeof id === 'string') : []
}

function policiesIn(sent: JsonObject, before: JsonObject): string[] {
  const listed = sent.apply_policies ?? []
  if (!Array.isArray(listed) || listed.length > MOST_POLICIES)
    return refuseMember('apply_policies', `must be a list of at most ${MOST_POLICIES} policy ids`)
  const plan = textMember(sent, 'for_plan')
  const named = listed.length > 0 ? listed : plan === '' ? requestedPolicies(before) : [plan]
  if (named.length === 0) return refuseMember('apply_policies', 'names no policy')
  return named.map((id) =>
    typeof id === 'string' && id !== '' && id.length <= LONGEST_ID
      ? id
      : refuseMember('apply_policies', 'every entry must be the id of a policy'),
  )
}

/** A stored date as RFC 3339 writes it; of one that is not, its day in UTC counts, with the time where that can be read. */
function momentOf(stored: Json | undefined): string {
  if (typeof stored !== 'string') return NO_DATE
  const spellings = [stored, `${stored.trim().replace(' ', 'T')}Z`, `${stored.trim().slice(0, 10)}T00:00:00Z`]
  return spellings.find(isDateTime) ?? NO_DATE
}

function checkDate({ date_created: date }: JsonObject): void {
  const text = date ?? ''
  if (text === '') return
  if (typeof text !== 'string' || text.length > 40 || !isDateTime(text))
    refuseMember('date_created', 'must be a date as RFC 3339 writes it')
}
