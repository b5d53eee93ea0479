import type { Awaitable } from '../../store/ports.ts'
import type { Answer } from '../answer.ts'
import type { Call } from '../call.ts'
import type { Route } from '../route.ts'

/**
 * Makes what a route does with the person or group that `{id}` of its path names. Those of organisations that the caller does not
 * see are not there.
 */
export function whereFound<Found extends { readonly org_id: string }>(
  find: (id: string) => Awaitable<Found | undefined>,
): (missing: Answer, work: (call: Call, found: Found) => Awaitable<Answer>) => Route['run'] {
  return (missing, work) => async (call) => {
    const found = await find(call.param('id'))
    const seen = found !== undefined && call.sight.org({ body: { org_id: found.org_id } })
    return seen ? work(call, found) : missing
  }
}
