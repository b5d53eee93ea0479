import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { isKeyHash } from '../../model/keys/key.ts'
import { hashKey } from '../../model/secrets/secret.ts'
import { findKey } from '../../publish/keys/find-key.ts'
import type { RecordQuery } from '../../store/ports/records.ts'
import type { Visibility } from '../access/visibility.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'

const text = Type.String({ maxLength: 4096 })
/** Until the year 5138. */
const seconds = Type.Integer({ minimum: 0, maximum: 99_999_999_999 })

/** The filters of records, besides the time. */
export const LOG_FILTERS = {
  api: text,
  errors: Type.Enum(['0', '1', 'true', 'false']),
  key: text,
  path: text,
  method: text,
  status: Type.Integer({ minimum: 0, maximum: 999 }),
  client: text,
  tag: text,
  request_id: Type.String({ maxLength: 4096, description: 'The `X-Request-Id` of an answer' }),
}

/** The same with the time, in seconds since 1970; both ends count. */
export const LOG_QUERY = { ...LOG_FILTERS, start: seconds, end: seconds }

/** From when to when a call asks. @throws Fault `query_invalid` (400) without a time or a request id, or for one that ends before it begins */
export function logTimeOf(call: Pick<Call, 'query'>): { from: number; to?: number } {
  const [start, end] = [call.query('start'), call.query('end')]
  if (start === '' && end === '' && call.query('request_id') !== '') return { from: 0 }
  if (start === '' && end === '')
    throw fault('query_invalid', 'start or end is needed, in seconds since 1970, or request_id')
  const from = start === '' ? 0 : Number(start) * 1000
  if (end === '') return { from }
  const to = Number(end) * 1000 + 1000
  if (to <= from) throw fault('query_invalid', 'end is before start')
  return { from, to }
}

/** The record query of a call, within its visibility. @throws Fault `store_away` */
export async function logFiltersOf(
  parts: DashboardParts,
  call: Pick<Call, 'query' | 'actor'>,
  visibility: Visibility,
): Promise<RecordQuery> {
  const orgId = call.actor?.orgId ?? ''
  const [status, errors, key] = [call.query('status'), call.query('errors'), call.query('key')]
  const apiId = apiIdsOf(call.query('api'), visibility)
  return {
    ...(orgId !== '' && { orgId }),
    ...(apiId !== undefined && { apiId }),
    ...(status !== '' && { status: Number(status) }),
    errors: errors === '1' || errors === 'true',
    keyHash: key === '' ? '' : await hashOf(parts, key, orgId),
    path: call.query('path'),
    method: call.query('method'),
    clientId: call.query('client'),
    tag: call.query('tag'),
    requestId: call.query('request_id'),
  }
}

/** An API that is not seen looks like one that has no records. */
function apiIdsOf(asked: string, visibility: Visibility): readonly string[] | undefined {
  const visible = visibility.apiIds()
  if (asked === '') return visible
  return visible === undefined || visible.includes(asked) ? [asked] : []
}

/** The hash of a key, which is named by it or, where keys themselves are kept, by itself. */
async function hashOf(parts: DashboardParts, key: string, orgId: string): Promise<string> {
  if (isKeyHash(key)) return key.toLowerCase()
  if (parts.config.gateway.hash_keys) return key
  const found = await findKey(parts, { name: key, naming: 'guess', orgId })
  return Buffer.from(found?.row.hash ?? hashKey(key)).toString('hex')
}
