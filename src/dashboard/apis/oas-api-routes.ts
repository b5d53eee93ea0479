import { Type } from 'typebox'
import { fault } from '../../errors/fault.ts'
import { listingWarnings } from '../../model/apis/check/definition-warnings.ts'
import { EXTENSION, objectOf } from '../../model/apis/definition/members.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { member } from '../../model/apis/definition/tree.ts'
import { OWN_WORD, toVendorWords } from '../../model/apis/definition/vendor-words.ts'
import { exportOas, importOas, patchOas } from '../../model/apis/openapi/import.ts'
import { OAS_SHAPE } from '../../model/apis/schema/definition-shapes.ts'
import { mergedOverTemplate } from '../../model/assets/asset.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { mayDo } from '../../model/people/permission.ts'
import { basesOf } from '../../publish/apis/api-plan.ts'
import { tryApi } from '../../publish/apis/apis.ts'
import { readImportOptions } from '../../publish/apis/import-options.ts'
import { isYaml, jsonToYaml } from '../../publish/apis/yaml.ts'
import { findAsset } from '../../publish/assets/assets.ts'
import { inTurns, ownTurn } from '../../runtime/turns.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { maskSecretsFor, restoreMaskedSecrets } from '../access/secrets-view.ts'
import { type Answer, bare, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { described } from '../routes/described.ts'
import { DoneEnvelope, WARNINGS_TEXT, WarnedEnvelope } from '../routes/envelope.ts'
import type { Route } from '../routes/route.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apiDocumentOf } from './api-document.ts'
import { apiUrls, UrlList } from './api-url.ts'
import { type SentDocument, sentDocument, sentOrNamedDocument, withExtension } from './sent-document.ts'
import {
  apiOf,
  Created,
  createStoredApi,
  draftOf,
  notChangeable,
  notReadable,
  removeStoredApi,
  updateStoredApi,
  VERSION_QUERY,
} from './store-api.ts'
import { aliasOf } from './vendor-alias.ts'
import { Warnings } from './warning-routes.ts'

const READ = { permission: 'apis', intent: 'read' } as const
const WRITE = { permission: 'apis', intent: 'write' } as const
const OWNED = { noun: 'api', by: 'id' } as const
const PATH = '/api/apis/oas'
const ONE = `${PATH}/{id}`

const Flag = Type.Enum(['true', 'false'])
const TUNING = {
  upstreamURL: Type.String({ maxLength: 4096 }),
  listenPath: Type.String({ maxLength: 1024 }),
  customDomain: Type.String({ maxLength: 255 }),
  allowList: Flag,
  validateRequest: Flag,
  mockResponse: Flag,
  authentication: Flag,
} as const
const EXTENSION_WORD = { extension: Type.String({ maxLength: 64 }) } as const
const Document = Type.Object({ openapi: Type.String() }, describedAs(OAS_SHAPE))
const Body = Type.Object({ openapi: Type.String() }, describedAs(OAS_SHAPE))
/** The address of a document, for calls that read it from there. */
const Address = Type.Object(
  {
    url: Type.String({
      description:
        'Address of an OpenAPI document, which the dashboard reads (where `dashboard.import_url.enabled` is set).',
    }),
  },
  { title: 'DocumentAddress' },
)
const AnyBody = Type.Object({ openapi: Type.String() }, describedAs({ anyOf: [OAS_SHAPE, Address] }))
const JSON_OR_FILE = ['application/json', 'multipart/form-data']
const Report = Type.Enum(['true', 'false'], { description: 'true: the preview comes with its warnings.' })
const Reported = Type.Object(
  {
    document: described(Document, 'The document as it would be stored.'),
    warnings: described(Warnings, WARNINGS_TEXT),
  },
  { title: 'PreviewReport' },
)
const Purge = Type.Enum(['true', 'false'], { description: 'true: the versions of the API go with it.' })

/** `/api/apis/oas`: APIs as OpenAPI documents with the extension. */
export function oasApiRoutes(parts: DashboardParts): Route[] {
  return [...newRoutes(parts), ...oneRoutes(parts)]
}

function newRoutes(parts: DashboardParts): Route[] {
  const shared = { method: 'POST', access: WRITE, body: Body } as const
  return [
    {
      ...shared,
      path: PATH,
      bodyIs: 'any',
      summary: 'Create an API from an OpenAPI document with the extension',
      query: { ...VERSION_QUERY, templateID: Type.String({ description: 'An asset that the document is laid over.' }) },
      refusals: [404],
      answers: { 200: Created },
      run: async (call) => {
        const sent = await overTemplate(parts, call)
        return createStoredApi(parts, call, 'oas', withExtension(sent), {}, sent.warnings)
      },
    },
    {
      ...shared,
      path: `${PATH}/import`,
      body: AnyBody,
      bodyIs: 'upload',
      bodyTypes: JSON_OR_FILE,
      summary: 'Create an API from a plain OpenAPI document, or from the address of one',
      query: { ...VERSION_QUERY, ...TUNING },
      answers: { 200: Created },
      run: async (call) => {
        const { document } = await sentOrNamedDocument(parts, call)
        return createStoredApi(parts, call, 'oas', importOas(document, readImportOptions(call.query)))
      },
    },
    {
      ...shared,
      path: `${PATH}/dry-run`,
      body: AnyBody,
      bodyIs: 'upload',
      bodyTypes: JSON_OR_FILE,
      summary: 'Show the document that would be stored',
      query: { ...TUNING, report: Report },
      answers: { 200: Type.Union([Document, Reported]) },
      run: (call) => dryRun(parts, call),
    },
  ]
}

function oneRoutes(parts: DashboardParts): Route[] {
  return [
    {
      method: 'GET',
      path: ONE,
      access: READ,
      owned: OWNED,
      summary: 'Read an API as an OpenAPI document in JSON or YAML (`Accept`)',
      query: EXTENSION_WORD,
      answers: { 200: Type.Union([Document, Type.String()]) },
      textType: 'application/x-yaml',
      entityVersion: (call) => apiDocumentOf(parts, call, call.param('id')),
      run: (call) => read(parts, call),
    },
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      bodyIs: 'any',
      summary: 'Replace an API by an OpenAPI document with the extension',
      body: Body,
      answers: { 200: WarnedEnvelope },
      entityVersion: (call) => apiDocumentOf(parts, call, call.param('id')),
      async run(call) {
        const found = await oasOf(parts, call, notChangeable)
        if ('status' in found) return found
        const definition = withExtension(await sentDocument(parts, call))
        return updateStoredApi(parts, call, found, { format: 'oas', definition }, 'API updated.')
      },
    },
    {
      method: 'PATCH',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      bodyIs: 'upload',
      bodyTypes: JSON_OR_FILE,
      summary: 'Replace the OpenAPI document of an API; its extension is kept',
      query: { ...TUNING, dry_run: Flag, report: Report },
      body: AnyBody,
      answers: { 200: Type.Union([WarnedEnvelope, Document, Reported]) },
      entityVersion: (call) => apiDocumentOf(parts, call, call.param('id')),
      run: (call) => patch(parts, call),
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      owned: OWNED,
      summary: 'Delete an API, with purge=true its versions too',
      query: { purge: Purge },
      answers: { 200: DoneEnvelope },
      run: (call) => removeStoredApi(parts, call),
    },
    {
      method: 'GET',
      path: `${ONE}/export`,
      access: READ,
      owned: OWNED,
      summary: 'Export an API as an OpenAPI document; with mode=public without the extension',
      query: { ...EXTENSION_WORD, mode: Type.Enum(['public']) },
      answers: { 200: Document },
      run: (call) => download(parts, call),
    },
    {
      method: 'GET',
      path: `${ONE}/urls`,
      access: READ,
      owned: OWNED,
      summary: 'List the URLs of an API, one for each gateway that loads it',
      answers: { 200: UrlList },
      async run(call) {
        const found = await oasOf(parts, call, notReadable)
        if ('status' in found) return found
        return bare({ ...(await apiUrls(parts, call, documentOf(found.body))) })
      },
    },
  ]
}

/**
 * The sent document, applied to the template that the query names. A caller who may not write templates does not get their secrets: the
 * document that was sent has to have its own at these places. @throws Fault `asset_unknown` (404)
 */
async function overTemplate(parts: DashboardParts, call: Call): Promise<SentDocument> {
  const sent = await sentDocument(parts, call)
  const id = call.query('templateID')
  if (id === '') return sent
  const template = await findAsset(parts, call.visibility.whereOrg(), id)
  const mayRead = call.actor !== undefined && mayDo(call.actor.permissions, 'api_assets', 'read')
  if (template === undefined || !mayRead || !call.visibility.org(template)) throw fault('asset_unknown')
  const data = maskSecretsFor(call, 'api_assets', objectOf(template.body, 'data'))
  return { ...sent, document: mergedOverTemplate(data, sent.document) }
}

/** The API that the path names, or the answer where there is none. @throws Fault `not_owner` (401) */
async function oasOf(parts: DashboardParts, call: Call, missing: () => Answer): Promise<StoredDocument | Answer> {
  const stored = await apiOf(parts, call, call.param('id'))
  if (stored === undefined) return missing()
  if (documentOf(stored.body).format === 'oas') return stored
  return refused(400, 'the requested API definition is in classic format, please use /api/apis/{id}')
}

/** Puts a plain document over an API's; `dry_run` shows what would be stored instead. */
async function patch(parts: DashboardParts, call: Call): Promise<Answer> {
  const found = await oasOf(parts, call, notChangeable)
  if ('status' in found) return found
  const { document, alias } = await sentOrNamedDocument(parts, call)
  const before = documentOf(found.body).definition
  const definition = await ownTurn(before, () =>
    restoreMaskedSecrets(patchOas(before, document, readImportOptions(call.query)), before, 'definition_invalid'),
  )
  const change = { format: 'oas', definition } as const
  if (call.query('dry_run') !== 'true') return updateStoredApi(parts, call, found, change, 'API updated.')
  const apiId = String(found.body.api_id)
  const tried = await tryApi(parts, { ...draftOf(parts, call), ...change, apiId })
  return triedAnswer(call, tried, alias)
}

async function read(parts: DashboardParts, call: Call): Promise<Answer> {
  const found = await oasOf(parts, call, notReadable)
  if ('status' in found) return found
  const alias = aliasOf(parts, call)
  const { definition } = documentOf(found.body)
  const document = await ownTurn(definition, () =>
    toVendorWords('oas', maskSecretsFor(call, 'apis', definition), alias),
  )
  const headers = await baseHeader(parts, call, found, alias)
  if (!isYaml(call.header('accept'))) return { ...bare(document), headers }
  return { status: 200, body: await jsonToYaml(JSON.stringify(document)), type: 'application/x-yaml', headers }
}

/** Names the API that this one is a version of, if the caller may know of it. */
async function baseHeader(
  { documents }: DashboardParts,
  call: Call,
  { body }: StoredDocument,
  alias: string | undefined,
): Promise<Record<string, string>> {
  const bases = await basesOf(documents, String(body.api_id))
  const base = bases.find((each) => call.visibility.org(each) && call.visibility.api(each))
  if (base === undefined) return {}
  return { [`x-${alias ?? OWN_WORD}-base-api-id`]: encodeURIComponent(String(base.body.api_id)) }
}

async function download(parts: DashboardParts, call: Call): Promise<Answer> {
  const found = await oasOf(parts, call, notReadable)
  if ('status' in found) return found
  const { api_id, definition } = documentOf(found.body)
  const mode = call.query('mode') === 'public' ? 'public' : undefined
  const exported = exportOas(definition, { mode })
  const alias = mode === undefined ? aliasOf(parts, call) : undefined
  const document = await ownTurn(exported, () => toVendorWords('oas', maskSecretsFor(call, 'apis', exported), alias))
  const name = api_id.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 100) || 'api'
  return { ...bare(document), headers: { 'content-disposition': `attachment; filename="${name}.json"` } }
}

async function dryRun(parts: DashboardParts, call: Call): Promise<Answer> {
  const { document, alias } = await sentOrNamedDocument(parts, call)
  const plain = member(document, EXTENSION) === undefined
  const definition: JsonObject = plain ? importOas(document, readImportOptions(call.query)) : document
  const tried = await tryApi(parts, { ...draftOf(parts, call), format: 'oas', definition })
  return triedAnswer(call, tried, plain ? aliasOf(parts, call) : alias)
}

/** The document that would be stored, with `report=true` beside what of it has no effect or is not checked. */
async function triedAnswer(
  call: Call,
  { document, unchecked }: Awaited<ReturnType<typeof tryApi>>,
  alias: string | undefined,
): Promise<Answer> {
  const definition = toVendorWords('oas', document.definition, alias)
  if (call.query('report') !== 'true') return bare(definition)
  const warnings = await inTurns(listingWarnings(document, unchecked, alias))
  return bare({ document: definition, warnings })
}
