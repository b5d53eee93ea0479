import { fault, toFault } from '../../errors/fault.ts'
import { warningsMember } from '../../model/apis/check/definition-warnings.ts'
import { servedClassic, toClassic } from '../../model/apis/convert/convert.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { activeByDefault } from '../../model/apis/definition/fill-ids.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import type { Flaw } from '../../model/apis/definition/tree.ts'
import {
  toOwnWords,
  toVendorWords,
  vendorMatchingNote,
  withMatchingOf,
} from '../../model/apis/definition/vendor-words.ts'
import { wholeClassic, withoutAddedZeros } from '../../model/apis/schema/whole-classic.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { idsOf } from '../../publish/apis/api-ids.ts'
import { basesOf } from '../../publish/apis/api-plan.ts'
import type { VersionOf } from '../../publish/apis/api-versions.ts'
import { findApi, publishApi, removeApi } from '../../publish/apis/apis.ts'
import { versionLines } from '../../publish/apis/version-lines.ts'
import { inTurns } from '../../runtime/turns.ts'
import { nodeFlaws } from '../apis/node-flaws.ts'
import { type AdminAnswer, changed, fieldText, json } from './answer.ts'
import { listDocuments } from './lists.ts'
import { type AdminParts, publishParts, waitUntilServed } from './parts.ts'
import { type AdminRequest, DEFINITION_BYTES } from './request.ts'
import type { AdminRoute } from './route.ts'

/** `/apis`: definitions in the classic format. Lists and single reads show OpenAPI ones too, in classic words. */
export function apiRoutes(parts: AdminParts): AdminRoute[] {
  const publish = publishParts(parts)
  return [
    {
      method: 'GET',
      path: '/apis',
      run: (request) =>
        listDocuments(parts, request, 'api', (body) => whole(request, summed(body)), fileDefinitions(parts)),
    },
    {
      method: 'POST',
      path: '/apis',
      run: async (request) => {
        const definition = await request.object(DEFINITION_BYTES)
        if ('openapi' in definition)
          throw fault('query_invalid', `an OpenAPI document: please use /${request.word}/apis/oas`)
        const own = activeByDefault(inOwnWords(parts, definition))
        const named = withMatchingOf(own, [request.word], parts.config.compat.path_matching)
        const note = vendorMatchingNote(own, named)
        const warnings = note === undefined ? [] : [{ at: ['path_matching'], reason: note }]
        return createFromRequest(parts, request, 'classic', named, warnings)
      },
    },
    {
      method: 'GET',
      path: '/apis/{api}',
      run: async (request) => {
        const document = await servedApi(parts, request.param('api'))
        const definition = toVendorWords('classic', inClassicWords(document), request.word)
        return json(whole(request, definition), 200, await baseField(parts, request, document))
      },
    },
    {
      method: 'PUT',
      path: '/apis/{api}',
      run: async (request) => {
        const apiId = request.param('api')
        const stored = documentOf((await findApi(publish, apiId)).body)
        const own = activeByDefault(inOwnWords(parts, await request.object(DEFINITION_BYTES)))
        const { path_matching: matching } = parts.config.compat
        const before = stored.definition
        const sent = stored.format === 'classic' ? withMatchingOf(own, [request.word], matching, before) : own
        const definition = written(request, sent, stored)
        return replaceFromRequest(parts, request, { format: 'classic', apiId, definition })
      },
    },
    { method: 'DELETE', path: '/apis/{api}', run: (request) => removeFromRequest(parts, request) },
    { method: 'GET', path: '/apis/{api}/versions', run: (request) => listVersions(parts, request) },
  ]
}

/** The definitions in files of this node, as stored ones would be. */
export function fileDefinitions(parts: AdminParts): JsonObject[] {
  return parts.fileDocuments().map((document) => ({ ...document }))
}

/** An API by its `api_id`: a stored one, else one of a file, which can be read here and not changed. @throws Fault `not_found` (404) */
export async function servedApi(parts: AdminParts, apiId: string): Promise<ApiDocument> {
  const stored = await parts.documents.find('api', 'api_id', apiId)
  const found = stored === undefined ? fileDefinitions(parts).find(({ api_id }) => api_id === apiId) : stored.body
  if (found === undefined) throw fault('not_found', 'API not found')
  return documentOf(found)
}

/** Stores a new API, as a version of another when the query says so; `told`: further warnings of the answer. */
export async function createFromRequest(
  parts: AdminParts,
  request: AdminRequest,
  format: ApiDocument['format'],
  definition: JsonObject,
  notes: readonly Flaw[] = [],
): Promise<AdminAnswer> {
  const version = versionOf(request)
  const stored = version === undefined && request.isAlias ? await documentThere(parts, format, definition) : undefined
  const made = await publishApi(publishParts(parts), {
    format,
    definition: stored === undefined ? definition : written(request, definition, stored),
    actor: request.actor,
    ...(version && { version }),
    ...(stored !== undefined && { apiId: stored.api_id }),
  })
  await waitUntilServed(parts, made.revision)
  const flaws = [...notes, ...(made.unchecked ?? []), ...nodeFlaws(parts.catalogue, parts.config, made.id)]
  const warnings = await inTurns(warningsMember(made.document, 'warnings', flaws, request.word))
  return changed(made.document.api_id, 'added', warnings)
}

/** A definition as a read under an alias shows it: scripts take every member for granted. */
function whole(request: AdminRequest, classic: JsonObject): JsonObject {
  return request.isAlias ? wholeClassic(classic) : classic
}

/** The definition that replaces a stored one: zero values that a read added are none of its members. */
function written(request: AdminRequest, sent: JsonObject, { format, definition }: ApiDocument): JsonObject {
  return request.isAlias && format === 'classic' ? withoutAddedZeros(sent, definition) : sent
}

/** The stored document of the API that a definition names, in this format; undefined where there is none. */
export async function documentThere(
  { documents }: AdminParts,
  format: ApiDocument['format'],
  definition: JsonObject,
): Promise<ApiDocument | undefined> {
  const { apiId } = idsOf(format, definition)
  const stored = apiId === '' ? undefined : await documents.find('api', 'api_id', apiId)
  return stored?.body.format === format ? documentOf(stored.body) : undefined
}

/** Replaces the stored definition of an API. */
export async function replaceFromRequest(
  parts: AdminParts,
  request: AdminRequest,
  draft: { readonly format: ApiDocument['format']; readonly apiId: string; readonly definition: JsonObject },
): Promise<AdminAnswer> {
  const saved = await publishApi(publishParts(parts), { ...draft, actor: request.actor })
  await waitUntilServed(parts, saved.revision)
  const flaws = [...(saved.unchecked ?? []), ...nodeFlaws(parts.catalogue, parts.config, saved.id)]
  const warnings = await inTurns(warningsMember(saved.document, 'warnings', flaws, request.word))
  return changed(draft.apiId, 'modified', warnings)
}

/** Deletes the API that the path names. */
export async function removeFromRequest(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const apiId = request.param('api')
  const { revision } = await removeApi(publishParts(parts), { apiId, actor: request.actor })
  await waitUntilServed(parts, revision)
  return changed(apiId, 'deleted')
}

/** Names the API that this one is a version of. */
export async function baseField(parts: AdminParts, request: AdminRequest, { api_id }: ApiDocument): Promise<string> {
  const [base] = await basesOf(parts.store.documents, api_id)
  return base === undefined ? '' : `x-${request.word}-base-api-id: ${fieldText(String(base.body.api_id))}\r\n`
}

function inOwnWords({ config }: AdminParts, definition: JsonObject): JsonObject {
  return toOwnWords('classic', definition, config.compat.vendor_aliases).definition
}

function inClassicWords(document: ApiDocument): JsonObject {
  if (document.format === 'classic') return document.definition
  return { ...toClassic(document.definition).definition, is_oas: true }
}

/** For lists: what of an OpenAPI definition has classic words, which is cheap to say. One that cannot be read any more has its ids. */
function summed(body: JsonObject): JsonObject {
  const { format, definition, api_id, name } = documentOf(body)
  if (format === 'classic') return definition
  try {
    return { ...servedClassic(definition), is_oas: true }
  } catch (error) {
    if (toFault(error).code === 'internal') throw error
    return { api_id, name, is_oas: true }
  }
}

function versionOf(request: AdminRequest): VersionOf | undefined {
  const baseApiId = request.text('base_api_id')
  if (baseApiId === '') return undefined
  const [baseName, name] = [request.text('base_api_version_name'), request.text('new_version_name')]
  return { baseApiId, baseName, name, setDefault: request.flag('set_default') }
}

/** Answers an API and the APIs that are versions of it. @throws Fault `not_found` (404) */
export async function listVersions(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const base = documentOf((await findApi(publishParts(parts), request.param('api'))).body)
  const lines = await versionLines(parts.store, base)
  return json({ status: 'success', apis: lines.map((line) => ({ ...line })) })
}
