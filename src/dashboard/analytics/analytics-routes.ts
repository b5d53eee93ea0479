import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { clientsNamed } from '../oauth-clients/clients-named.ts'
import { type Answer, bare } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { PageCount } from '../routes/envelope.ts'
import { pageOf, pagesOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { DIMENSION_LISTS } from './dimensions.ts'
import { DEVELOPER_TAG } from './names.ts'
import { PARAMETERS } from './params.ts'
import { RANGE, rangeOf } from './range.ts'
import { UsageRowShape } from './row.ts'
import { checkKnownKey, keyHashesNamed, keyHashNamed } from './shown-keys.ts'
import { answerUsageView, type UsageView } from './view.ts'

const READ = { permission: 'analytics', intent: 'read' } as const
/** Views that cannot be limited by API: closed to users who may see only the analytics of their own APIs. */
const READ_ALL = { ...READ, beyondApis: true } as const
const answers = {
  200: Type.Union([
    Type.Object(
      {
        data: Type.Array(UsageRowShape, {
          description: 'One row for each group of requests, in the order that the query asks for.',
        }),
        pages: PageCount,
        from: Type.Optional(
          Type.Integer({
            description: 'Unix seconds from which on requests were counted, where `from` or `to` was sent.',
          }),
        ),
        to: Type.Optional(Type.Integer({ description: 'Unix seconds up to which they were counted.' })),
      },
      { title: 'UsagePage' },
    ),
    Type.String(),
  ]),
}

const SERIES: UsageView = { per: 'day', by: [] }
const STATUS_SERIES: UsageView = { per: 'day', by: ['status'] }
const STATUSES: UsageView = { per: 'all', by: ['status'] }
const CODES: UsageView = { per: 'all', by: ['status'], only: { errorsOnly: true } }
const ENDPOINTS: UsageView = { per: 'all', by: ['apiId', 'endpoint'], only: { has: 'endpoint' } }

/** Analytics: request counts over the days in the path, grouped in many ways. */
export function analyticsRoutes(parts: DashboardParts): Route[] {
  const route = (path: string, summary: string, run: Route['run'], more: Partial<Route> = {}): Route => ({
    ...{
      method: 'GET',
      path: `${path}/${RANGE}`,
      access: READ,
      summary,
      query: PARAMETERS,
      answers,
      textType: 'text/csv',
      run,
    },
    keysIn: ['key', 'keys'],
    ...more,
  })
  const all = { access: READ_ALL }
  const view =
    (shape: UsageView): Route['run'] =>
    (call) =>
      answerUsageView(parts, call, shape)
  return [
    route('/api/usage', 'Requests over time', view(SERIES)),
    route('/api/usage/apis', 'Requests by API', view({ per: 'all', by: ['apiId'] })),
    route('/api/usage/apis/{apiId}', 'Requests at an API over time', (call) => {
      return answerUsageView(parts, call, { per: 'day', by: ['apiId'] }, { api: call.param('apiId') })
    }),
    route('/api/usage/versions', 'Requests by API and version', view({ per: 'all', by: ['apiId', 'version'] })),
    route('/api/usage/codes', 'Requests by status', view(STATUSES)),
    route('/api/usage/tags', 'Requests by tag', view({ per: 'all', by: ['tag'] }), all),
    route('/api/errors/count', 'Refused and failed requests by status', view(CODES)),
    route(
      '/api/activity/errors',
      'Refused and failed requests by API and status',
      view({ ...CODES, by: ['apiId', 'status'] }),
    ),
    route('/api/activity/keys', 'Requests by key', view({ per: 'all', by: ['keyHash'] }), all),
    route(
      '/api/activity/keys/{key}',
      'Requests of a key over time',
      (call) => ofKey(parts, call, { per: 'day', by: ['keyHash'] }),
      {
        ...all,
        owned: { noun: 'key', by: 'key' },
      },
    ),
    route(
      '/api/activity/keys/endpoint/{key}',
      'Requests of a key by tracked endpoint',
      (call) => ofKey(parts, call, ENDPOINTS),
      {
        ...all,
        owned: { noun: 'key', by: 'key' },
      },
    ),
    route(
      '/api/activity/keys/aggregate/{keys}',
      'Requests of several keys together by status, over time',
      (call) => {
        return answerUsageView(parts, call, STATUS_SERIES, {
          where: { keyHash: keyHashesNamed(parts, call.param('keys')) },
        })
      },
      all,
    ),
    route(
      '/api/activity/oauthid/{clientId}',
      'Requests of an OAuth client over time',
      (call) => ofClient(parts, call, SERIES),
      {
        ...all,
        owned: { noun: 'oauth_client', by: 'clientId' },
      },
    ),
    route(
      '/api/activity/oauthid/endpoint/{clientId}',
      'Requests of an OAuth client by tracked endpoint',
      (call) => ofClient(parts, call, ENDPOINTS),
      {
        ...all,
        owned: { noun: 'oauth_client', by: 'clientId' },
      },
    ),
    route('/api/activity/endpoints', 'Requests by tracked endpoint', view(ENDPOINTS), all),
    ...DIMENSION_LISTS.map(({ path, summary, by, isSparse }) =>
      route(path, summary, view({ per: 'all', by: [by], ...(isSparse && { only: { has: by } }) }), all),
    ),
    route(
      '/api/activity/developers',
      'Requests by developer',
      view({ per: 'all', by: ['tag'], only: { tagPrefix: DEVELOPER_TAG } }),
      all,
    ),
    ...uptimeRoutes(route),
  ]
}

/** @throws Fault `key_undecodable` (400), `not_found` (404) */
async function ofKey(parts: DashboardParts, call: Call, view: UsageView): Promise<Answer> {
  const keyHash = keyHashNamed(parts, call.param('key'))
  await checkKnownKey(parts, call, keyHash)
  return answerUsageView(parts, call, view, { where: { keyHash: [keyHash] } })
}

/** @throws Fault `not_found` (404) for a client that is not there and was never counted */
async function ofClient(parts: DashboardParts, call: Call, view: UsageView): Promise<Answer> {
  const clientId = call.param('clientId')
  const known =
    (await clientsNamed(parts, call.visibility, clientId)).own.length > 0 ||
    (await parts.store.hits.knows(call.actor?.orgId ?? '', 'clientId', clientId))
  if (!known) throw fault('not_found', 'OAuth client not found')
  return answerUsageView(parts, call, view, { where: { clientId: [clientId] } })
}

/** Tests of uptime are not run by this product: there is nothing to tell. */
function uptimeRoutes(route: (path: string, summary: string, run: Route['run']) => Route): Route[] {
  const nothing = (call: Call): Answer => {
    rangeOf(call)
    return bare({ data: [], pages: pagesOf(0, pageOf(call)) })
  }
  return ['/api/uptime', '/api/uptime/{apiId}', '/api/uptime/hosts/{apiId}'].map((path) =>
    route(path, 'Tests of uptime: none are run, so always empty', nothing),
  )
}
