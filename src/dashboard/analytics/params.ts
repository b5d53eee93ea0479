import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import type { UsagePer, UsageQuery, UsageSort } from '../../store/ports/ports.ts'
import type { Call } from '../routes/call.ts'
import { FILTER_PARAMETERS, LONGEST } from './dimensions.ts'

/** The parameters of every call of analytics. */
export const PARAMETERS = {
  p: Type.Integer({ description: 'Page; 0 and below: all' }),
  res: Type.Enum(['minute', 'hour', 'day', 'month', 'all'], {
    description:
      'Length of the buckets of time, UTC; all: a single one. Minutes: of the last 48 hours, not by key, client, tag, developer or country',
  }),
  from: Type.Integer({
    minimum: 0,
    description:
      'Unix seconds within the days of the path from which on requests count; by whole minutes, where these are not counted by whole hours: the answer says which',
  }),
  to: Type.Integer({ minimum: 0, description: 'Unix seconds up to which requests count, as `from`' }),
  from_hour: Type.Integer({ minimum: 0, maximum: 23, description: 'First hour of the first day, UTC' }),
  to_hour: Type.Integer({ minimum: 0, maximum: 23, description: 'Last hour of the last day, UTC; it counts' }),
  api_id: Type.String({ maxLength: LONGEST, description: 'An API, or a policy: its APIs' }),
  tags: Type.String({ maxLength: LONGEST, description: 'Requests with any of these; repeated, or parted by commas' }),
  code: Type.Integer({ minimum: 100, maximum: 1023, description: 'Only requests answered with this status' }),
  errors: Type.Enum(['0', '1'], { description: '1: only requests answered with 400 or above' }),
  key: Type.String({ maxLength: LONGEST, description: 'Requests of this key; `00000000`: without one' }),
  ...FILTER_PARAMETERS,
  by: Type.String({ maxLength: 64, description: 'What rows are sorted by, such as Hits' }),
  sort: Type.Enum(['1', '-1'], { description: '1: smallest first; -1: largest first' }),
  type: Type.Enum(['csv', 'json']),
}

/** Spellings of `by`, without regard to case and underscores. */
const SORTS: Readonly<Record<string, UsageSort>> = Object.assign(Object.create(null), {
  ...{ time: 'time', date: 'time', day: 'time', hits: 'count', success: 'success', error: 'error', errors: 'error' },
  ...{ lasthit: 'lastAt', requesttime: 'totalMs', latency: 'totalMs', maxlatency: 'maxTotalMs' },
  ...{ minlatency: 'minTotalMs', upstreamlatency: 'upstreamMs', maxupstreamlatency: 'maxUpstreamMs' },
  minupstreamlatency: 'minUpstreamMs',
})

/** The order that a call asks for; without one: times from the oldest on, anything else from the most hits down. @throws Fault `query_invalid` (400) */
export function usageOrderOf(call: Pick<Call, 'query'>, per: UsagePer): Pick<UsageQuery, 'sort' | 'descending'> {
  const by = call.query('by')
  const direction = call.query('sort')
  const sort = by === '' ? (per === 'all' ? 'count' : 'time') : SORTS[by.toLowerCase().replaceAll('_', '')]
  if (sort === undefined) throw fault('query_invalid', 'The value of by is not valid')
  return { sort, descending: direction === '' ? sort !== 'time' : direction === '-1' }
}

/** The tags that a call asks for, repeated or parted by commas; undefined when it asks for none. */
export function usageTagsOf(call: Pick<Call, 'queryAll'>): readonly string[] | undefined {
  const tags = call
    .queryAll('tags')
    .flatMap((list) => list.split(','))
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  return tags.length === 0 ? undefined : [...new Set(tags)]
}
