import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { toClassic, toOas } from '../../model/apis/convert/convert.ts'
import { isEmpty, objectOf } from '../../model/apis/definition/members.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { member } from '../../model/apis/definition/tree.ts'
import { toOwnWords, vendorMatchingNote, withMatchingOf } from '../../model/apis/definition/vendor-words.ts'
import { CLASSIC_SHAPE } from '../../model/apis/schema/definition-shapes.ts'
import { isObject, type JsonObject } from '../../model/json/json.ts'
import { describedOpenMembers } from '../../model/openapi/component-schemas.ts'
import { shortWrapperOf, wrapperOf } from '../../publish/apis/api-wrapper.ts'
import { listNodes } from '../../publish/nodes/node-status.ts'
import { ownTurn } from '../../runtime/turns.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { maskSecretsFor } from '../access/secrets-view.ts'
import { type Answer, bare, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope, PageCount, WarnedEnvelope } from '../routes/envelope.ts'
import { listed } from '../routes/listed.ts'
import { RowTotal, sizedPageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apiDocumentOf } from './api-document.ts'
import { ApiFacts, factsOf } from './api-facts.ts'
import { sentApiMetadata } from './api-metadata.ts'
import { API_QUERY, apiQuery } from './api-query.ts'
import { apiUrl, apiUrls, UrlList, UrlParts } from './api-url.ts'
import {
  apiOf,
  Created,
  createStoredApi,
  notChangeable,
  notReadable,
  removeStoredApi,
  updateStoredApi,
  VERSION_QUERY,
} from './store-api.ts'
import { aliasOf } from './vendor-alias.ts'
import { WebhookReference } from './webhook-reference.ts'
import { ShortWrapper, Wrapper } from './wrapper.ts'

const READ = { permission: 'apis', intent: 'read' } as const
const WRITE = { permission: 'apis', intent: 'write' } as const
const OWNED = { noun: 'api', by: 'id' } as const

const List = Type.Object(
  {
    apis: Type.Array(Type.Union([Wrapper, ShortWrapper, ApiFacts]), {
      description: 'APIs of the page, in the form that the query asks for.',
    }),
    pages: PageCount,
    total: RowTotal,
  },
  { title: 'ApiPage' },
)
/** A bare definition is accepted, too. */
const Body = Type.Object(
  {},
  describedOpenMembers('ApiInput', {
    api_definition: CLASSIC_SHAPE,
    hook_references: Type.Array(WebhookReference, { description: 'Webhooks that events of the API call.' }),
    user_owners: Type.Array(Type.String(), { description: 'Ids of users who own the API.' }),
    user_group_owners: Type.Array(Type.String(), { description: 'Ids of user groups whose members own the API.' }),
    categories: Type.Array(Type.String(), { description: 'Categories, without `#`.' }),
    // A read may be sent back.
    ...{ api_model: Wrapper.properties.api_model, is_site: Wrapper.properties.is_site },
    ...{
      sort_by: Wrapper.properties.sort_by,
      oas: Type.Object({}, { additionalProperties: true, description: 'Passed over: a read may be sent back.' }),
    },
    ...{
      created_at: Type.String({ description: 'Passed over: a read may be sent back.' }),
      updated_at: Type.String({ description: 'Passed over: a read may be sent back.' }),
    },
  }),
)
/** Members of a wrapper that are none of a definition. */
const METADATA_MEMBERS = ['user_owners', 'user_group_owners', 'hook_references', 'categories'] as const

/** `/api/apis`: lists of all APIs, and the classic calls. The id in a path is the storage id or the `api_id`. */
export function apiRoutes(parts: DashboardParts): Route[] {
  return [...listRoutes(parts), ...oneRoutes(parts)]
}

function listRoutes(parts: DashboardParts): Route[] {
  const list = (path: string, summary: string): Route => ({
    method: 'GET',
    path,
    access: READ,
    summary,
    query: API_QUERY,
    answers: { 200: List },
    async run(call) {
      const shape = await shapeOf(parts, call)
      const { page, ...total } = sizedPageOf(call)
      return listed(parts.documents, 'api', await apiQuery(parts, call), page, { name: 'apis', ...total, shape })
    },
  })
  return [list('/api/apis', 'List APIs'), list('/api/apis/search', 'Search APIs')]
}

/** The fields of a list row. */
async function shapeOf(parts: DashboardParts, call: Call): Promise<(stored: StoredDocument) => JsonObject> {
  if (call.query('facts') === '1') {
    const [nodes, now] = [await listNodes(parts), parts.clock.wall()]
    return (stored) => factsOf(stored, nodes, now)
  }
  if (/^(?:1|true)$/.test(call.query('compressed'))) return shortWrapperOf
  const alias = aliasOf(parts, call)
  return (stored) => maskSecretsFor(call, 'apis', wrapperOf(stored, alias))
}

function oneRoutes(parts: DashboardParts): Route[] {
  const path = '/api/apis/{id}'
  return [
    {
      method: 'POST',
      path: '/api/apis',
      access: WRITE,
      summary: 'Create a classic API',
      query: VERSION_QUERY,
      body: Body,
      answers: { 200: Created },
      run(call) {
        const { definition, wrapper } = sentApi(parts, call.object())
        const { path_matching: matching } = parts.config.compat
        const matched = withMatchingOf(definition, parts.config.compat.vendor_aliases, matching)
        const note = vendorMatchingNote(definition, matched)
        const warnings = note === undefined ? [] : [{ at: ['path_matching'], reason: note }]
        return createStoredApi(parts, call, 'classic', matched, sentApiMetadata(wrapper), warnings)
      },
    },
    {
      method: 'GET',
      path,
      access: READ,
      owned: OWNED,
      summary: 'Read an API',
      query: { extension: API_QUERY.extension },
      answers: { 200: Wrapper },
      entityVersion: (call) => apiDocumentOf(parts, call, call.param('id')),
      async run(call) {
        const stored = await apiOf(parts, call, call.param('id'))
        if (stored === undefined) return notReadable()
        const wrapper = await ownTurn(stored.body, () => wrapperOf(stored, aliasOf(parts, call)))
        return bare(await ownTurn(wrapper, () => maskSecretsFor(call, 'apis', wrapper)))
      },
    },
    {
      method: 'PUT',
      path,
      access: WRITE,
      owned: OWNED,
      summary: 'Replace a classic API',
      body: Body,
      answers: { 200: WarnedEnvelope },
      entityVersion: (call) => apiDocumentOf(parts, call, call.param('id')),
      run: (call) => replace(parts, call),
    },
    {
      method: 'DELETE',
      path,
      access: WRITE,
      owned: OWNED,
      summary: 'Delete an API of either format',
      answers: { 200: DoneEnvelope },
      run: (call) => removeStoredApi(parts, call),
    },
    {
      method: 'GET',
      path: `${path}/url`,
      access: READ,
      owned: OWNED,
      summary: 'Get the URL of an API',
      answers: { 200: UrlParts },
      async run(call) {
        const stored = await apiOf(parts, call, call.param('id'))
        return stored === undefined ? notReadable() : bare({ ...(await apiUrl(parts, call, documentOf(stored.body))) })
      },
    },
    {
      method: 'GET',
      path: `${path}/urls`,
      access: READ,
      owned: OWNED,
      summary: 'List the URLs of an API of either format, one for each gateway that loads it',
      answers: { 200: UrlList },
      async run(call) {
        const stored = await apiOf(parts, call, call.param('id'))
        return stored === undefined ? notReadable() : bare({ ...(await apiUrls(parts, call, documentOf(stored.body))) })
      },
    },
  ]
}

async function replace(parts: DashboardParts, call: Call): Promise<Answer> {
  const stored = await apiOf(parts, call, call.param('id'))
  if (stored === undefined) return notChangeable()
  const { definition, wrapper } = sentApi(parts, call.object())
  const metadata = sentApiMetadata(wrapper)
  const document = documentOf(stored.body)
  if (document.format === 'classic') {
    const [before, { path_matching: matching }] = [document.definition, parts.config.compat]
    const matched = withMatchingOf(definition, parts.config.compat.vendor_aliases, matching, before)
    return updateStoredApi(parts, call, stored, { format: 'classic', definition: matched, metadata }, 'API updated')
  }
  if (!parts.config.dashboard.allow_unsafe_oas)
    return refused(400, 'The API is in OpenAPI format, please use /api/apis/oas/{id}')
  const change = { format: 'oas', definition: inOpenapi(stored, definition), metadata } as const
  return updateStoredApi(parts, call, stored, change, 'API updated')
}

/** A classic definition over an OpenAPI one: what only OpenAPI can say stays as it is stored. */
function inOpenapi(stored: StoredDocument, classic: JsonObject): JsonObject {
  const { is_oas: _mark, ...rest } = classic
  const held = toClassic(documentOf(stored.body).definition).definition.oas
  return toOas(held === undefined || rest.oas !== undefined ? rest : { ...rest, oas: held }).document
}

/** @throws Fault `definition_invalid` (400) for a body without a definition, and for an OpenAPI document */
function sentApi({ config }: DashboardParts, body: JsonObject): { definition: JsonObject; wrapper: JsonObject } {
  const sent = member(body, 'api_definition')
  const wrapped = sent !== undefined && sent !== null
  if (wrapped && !isObject(sent)) throw fault('definition_invalid', 'api_definition: must be an object')
  const given = wrapped ? (sent as JsonObject) : body
  if ('openapi' in given || (!wrapped && !isEmpty(objectOf(body, 'oas'))))
    throw fault('definition_invalid', 'an OpenAPI document: please use /api/apis/oas')
  if (!wrapped && !('proxy' in given)) throw fault('definition_invalid', 'api_definition: is missing')
  // The definition may name owners as well; they are stored in one place.
  const inside = Object.fromEntries(
    METADATA_MEMBERS.flatMap((name) => (Array.isArray(given[name]) ? [[name, given[name]!]] : [])),
  )
  const definition = Object.fromEntries(
    Object.entries(given).filter(([name]) => !(METADATA_MEMBERS as readonly string[]).includes(name)),
  )
  const own = toOwnWords('classic', definition, config.compat.vendor_aliases)
  return { definition: own.definition, wrapper: { ...inside, ...(wrapped ? body : {}) } }
}
