import { Type } from 'typebox'
import { isObject, type JsonObject } from '../../../model/json/json.ts'
import { counterIdOf, ROTATED_FROM, ROTATED_TO } from '../../../model/keys/key.ts'
import { describedAs } from '../../../model/openapi/component-schemas.ts'
import { NEVER } from '../../../model/people/user.ts'
import { policyIdsOf } from '../../../model/policies/merge-policies.ts'
import { DEVELOPER_ID } from '../../../model/portal/developers/developer.ts'
import { SESSION_SCHEMA, type Session } from '../../../model/sessions/session.ts'
import { hexOf } from '../../../model/text/hex.ts'
import { DAY_MS } from '../../../model/time/calendar.ts'
import { isExpired } from '../../../model/time/expiry.ts'
import { sessionView } from '../../../publish/sessions/quotas.ts'
import type { SessionRow } from '../../../store/ports/ports.ts'
import { soleOwnership } from '../../access/co-owned.ts'
import { maskSecretsFor } from '../../access/secrets-view.ts'
import type { Call } from '../../routes/call.ts'
import { moment } from '../../routes/text-forms.ts'
import type { DashboardParts } from '../../server/parts.ts'

const RIGHTS = (SESSION_SCHEMA.properties as JsonObject).access_rights as JsonObject

/** A key of a developer, without the key. */
export const KeyEntry = Type.Object(
  {
    key_id: Type.String({ description: 'Its hash: what `keys` and `subscriptions` of the developer hold.' }),
    policies: Type.Array(Type.String(), { description: 'Ids of the policies of the key.' }),
    alias: Type.String({ description: 'Alias of the key.' }),
    fields: Type.Record(Type.String(), Type.Unknown(), { description: 'Values of custom fields of the key.' }),
    status: Type.Enum(['active', 'inactive', 'expired', 'rotated'], {
      description: '`rotated`: another key took its place; it is good until `valid_until`.',
    }),
    date_created: moment('Time of creation (RFC 3339); 0001-01-01T00:00:00Z = not known.'),
    expires: Type.Integer({ description: 'Unix seconds; 0 = never.' }),
    last_used: moment('`0001-01-01T00:00:00Z` = never.'),
    quota_max: Type.Number({ description: 'Requests of the quota; -1: none, or one for each of its APIs.' }),
    quota_remaining: Type.Number({ description: 'Requests that are left of the quota.' }),
    quota_renews: Type.Number({ description: 'Unix seconds at which it renews; 0 = with the next call.' }),
    access_rights: Type.Record(Type.String(), Type.Object({}), describedAs(RIGHTS)),
    rotated_from: Type.String({ description: 'The key that it replaced; empty = none.' }),
    rotated_to: Type.String({ description: 'The key that took its place; empty = none.' }),
    valid_until: Type.String({ description: 'Of one that was rotated; empty for others.' }),
  },
  { title: 'DeveloperKey' },
)

const SHARED = KeyEntry.properties

/** The facts of a key besides its session. */
export const KeyFacts = Type.Object(
  {
    ...{ status: SHARED.status, policies: SHARED.policies, date_created: SHARED.date_created },
    last_used: SHARED.last_used,
    developer_id: Type.String({ description: 'Storage id of the developer who owns the key; empty = none.' }),
    ...{ rotated_from: SHARED.rotated_from, rotated_to: SHARED.rotated_to, valid_until: SHARED.valid_until },
  },
  { title: 'KeyFacts', description: 'State, last use and rotation of the key.' },
)

/** The present state of a developer's key. @throws Fault `store_away` */
export async function keyEntry(
  parts: DashboardParts,
  call: Pick<Call, 'actor' | 'visibility'>,
  row: SessionRow,
): Promise<JsonObject> {
  const keyHash = hexOf(row.hash)
  const { body, orgId } = row
  const shown = await sessionView(parts, body, orgId, counterIdOf(body, keyHash))
  const sole = await soleOwnership(parts, call)
  const {
    status,
    policies,
    date_created,
    last_used,
    developer_id: _holder,
    ...rotation
  } = await keyFacts(parts, row, shown)
  return {
    ...{ key_id: keyHash, policies, alias: textOf(body.alias) },
    fields: maskSecretsFor(call, 'portal', isObject(body.meta_data) ? body.meta_data : {}, sole.key(row)),
    ...{ status, date_created },
    expires: Math.max(0, numberOf(body.expires, 0)),
    last_used,
    quota_max: numberOf(shown.quota_max, -1),
    quota_remaining: numberOf(shown.quota_remaining, -1),
    quota_renews: numberOf(shown.quota_renews, 0),
    access_rights: isObject(shown.access_rights) ? shown.access_rights : {},
    ...rotation,
  }
}

/** The facts of a key besides its session, which `shown` is with its policies applied. @throws Fault `store_away` */
export async function keyFacts(parts: DashboardParts, row: SessionRow, shown: JsonObject) {
  const { body, orgId } = row
  return {
    status: statusOf(parts, row, shown),
    policies: policyIdsOf(body as Session),
    date_created: textOf(body.date_created) || NEVER,
    last_used: await lastUsed(parts, orgId, hexOf(row.hash)),
    developer_id: textOf(body[DEVELOPER_ID]),
    rotated_from: textOf(body[ROTATED_FROM]),
    rotated_to: textOf(body[ROTATED_TO]),
    valid_until: typeof body[ROTATED_TO] === 'string' ? new Date(row.evictAt).toISOString() : '',
  }
}

function statusOf({ clock }: DashboardParts, { body }: SessionRow, shown: JsonObject): string {
  if (isExpired(body as Session, clock.wall())) return 'expired'
  if (typeof body[ROTATED_TO] === 'string') return 'rotated'
  return shown.is_inactive === true ? 'inactive' : 'active'
}

/** When the key was last sent with a request, as far as requests are counted. */
async function lastUsed({ store, clock }: DashboardParts, orgId: string, keyHash: string): Promise<string> {
  const where = { orgId: [orgId], keyHash: [keyHash] }
  const page = { per: 'all', by: [], sort: 'lastAt', descending: true, offset: 0, limit: 1 } as const
  // By days, where sums are looked up by the key; hours are walked through from the first one.
  const { rows } = await store.hits.usage({ fromDay: 0, toDay: Math.floor(clock.wall() / DAY_MS), where, ...page })
  const last = rows[0]?.lastAt ?? 0
  return last > 0 ? new Date(last).toISOString() : NEVER
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function numberOf(value: unknown, usual: number): number {
  return typeof value === 'number' ? value : usual
}
