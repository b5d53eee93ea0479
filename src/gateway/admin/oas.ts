import { fault } from '../../errors/fault.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { urlPath } from '../../model/apis/definition/issuer.ts'
import { EXTENSION, objectsOf } from '../../model/apis/definition/members.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { type OwnWords, toOwnWords, toVendorWords } from '../../model/apis/definition/vendor-words.ts'
import { exportOas, importOas, patchOas, withoutServer, withServer } from '../../model/apis/openapi/import.ts'
import { readingApi } from '../../model/apis/read/read.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { addressOf } from '../../model/nodes/addresses.ts'
import { otherFormat } from '../../publish/apis/apis.ts'
import { readImportOptions } from '../../publish/apis/import-options.ts'
import { inTurns, ownTurn } from '../../runtime/turns.ts'
import { type AdminAnswer, json } from './answer.ts'
import {
  baseField,
  createFromRequest,
  documentThere,
  fileDefinitions,
  listVersions,
  removeFromRequest,
  replaceFromRequest,
  servedApi,
} from './apis.ts'
import { listDocuments } from './lists.ts'
import type { AdminParts } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { AdminRoute } from './route.ts'

/** `/apis/oas`: definitions as OpenAPI documents with the extension. */
export function oasRoutes(parts: AdminParts): AdminRoute[] {
  return [
    { method: 'GET', path: '/apis/oas', run: (request) => list(parts, request) },
    {
      method: 'POST',
      path: '/apis/oas',
      run: async (request) => {
        const { definition: sent, warnings } = await extended(parts, request)
        const stored = request.isAlias ? await documentThere(parts, 'oas', sent) : undefined
        const definition = stored === undefined ? sent : await written(parts, request, stored, sent)
        return createFromRequest(parts, request, 'oas', definition, stored === undefined ? warnings : [])
      },
    },
    {
      method: 'GET',
      path: '/apis/oas/export',
      run: async (request) => asFile(await list(parts, request), 'apis.json'),
    },
    {
      method: 'POST',
      path: '/apis/oas/import',
      run: async (request) =>
        createFromRequest(
          parts,
          request,
          'oas',
          importOas(
            (await plain(parts, request)).definition,
            readImportOptions((name) => request.text(name)),
          ),
        ),
    },
    {
      method: 'GET',
      path: '/apis/oas/{api}',
      run: async (request) => {
        const document = await find(parts, request)
        const definition = await shown(parts, request, document)
        return json(definition, 200, await baseField(parts, request, document))
      },
    },
    {
      method: 'PUT',
      path: '/apis/oas/{api}',
      run: async (request) => {
        const stored = await find(parts, request)
        const definition = await written(parts, request, stored, (await extended(parts, request)).definition)
        return replaceFromRequest(parts, request, { format: 'oas', apiId: stored.api_id, definition })
      },
    },
    {
      method: 'PATCH',
      path: '/apis/oas/{api}',
      run: async (request) => {
        const stored = await find(parts, request)
        const patched = patchOas(
          stored.definition,
          await written(parts, request, stored, (await plain(parts, request)).definition),
          readImportOptions((name) => request.text(name)),
        )
        return replaceFromRequest(parts, request, { format: 'oas', apiId: stored.api_id, definition: patched })
      },
    },
    { method: 'DELETE', path: '/apis/oas/{api}', run: (request) => removeFromRequest(parts, request) },
    {
      method: 'GET',
      path: '/apis/oas/{api}/export',
      run: async (request) => {
        const document = await find(parts, request)
        return asFile(json(await shown(parts, request, document)), `${fileWord(document.api_id)}.json`)
      },
    },
    {
      method: 'GET',
      path: '/apis/oas/{api}/versions',
      run: async (request) => {
        await find(parts, request)
        return listVersions(parts, request)
      },
    },
  ]
}

function list(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const show = async (body: JsonObject) => {
    const document = documentOf(body)
    return document.format === 'oas' ? shown(parts, request, document) : undefined
  }
  return listDocuments(parts, request, 'api', show, fileDefinitions(parts))
}

/** @throws Fault `not_found` (404), `query_invalid` (400) for a classic API */
async function find(parts: AdminParts, request: AdminRequest): Promise<ApiDocument> {
  const document = await servedApi(parts, request.param('api'))
  if (document.format !== 'oas') throw otherFormat('classic')
  return document
}

/** A document as callers get it: our address first among the servers, the extension under the name that their path uses or left out. */
async function shown(parts: AdminParts, request: AdminRequest, document: ApiDocument): Promise<JsonObject> {
  const mode = request.text('mode')
  if (mode !== '' && mode !== 'public') throw fault('query_invalid', 'mode: must be public, or not be sent')
  const exported = exportOas(document.definition, { mode: mode === 'public' ? mode : undefined })
  const url = await urlOf(parts, request, document)
  const addressed = url === undefined ? exported : withServer(exported, url)
  return ownTurn(exported, () => toVendorWords('oas', addressed, request.word))
}

/** The document that replaces a stored one: the URL that a read adds is not one of its servers. */
async function written(
  parts: AdminParts,
  request: AdminRequest,
  stored: ApiDocument,
  sent: JsonObject,
): Promise<JsonObject> {
  const url = objectsOf(sent, 'servers').length === 0 ? undefined : await urlOf(parts, request, stored)
  return url === undefined ? sent : withoutServer(sent, stored.definition, url)
}

/** Where callers reach the API: under an alias the address of this call where no setting tells it; undefined when nobody has said. */
async function urlOf(parts: AdminParts, request: AdminRequest, document: ApiDocument): Promise<string | undefined> {
  const { publicUrl, edges } = parts.addresses.current
  // To read a definition takes as long as a tenth of a save.
  if (publicUrl === '' && edges.length === 0 && !request.isAlias) return undefined
  try {
    const api = await inTurns(readingApi(document))
    const address = addressOf(api, parts.addresses.current) ?? (request.isAlias ? request.origin : undefined)
    // A placeholder of the listen path would be a variable of the server that nothing describes.
    if (address === undefined || api.listenPath.includes('{')) return undefined
    return address + urlPath(api.listenPath)
  } catch {
    // A definition from before a check was added: it is shown as it is stored.
    return undefined
  }
}

/** The body as a document that must have the extension. */
async function extended(parts: AdminParts, request: AdminRequest): Promise<OwnWords> {
  const document = await plain(parts, request)
  if (!(EXTENSION in document.definition))
    throw fault(
      'definition_invalid',
      `${EXTENSION}: is missing; a plain document goes to /${request.word}/apis/oas/import`,
    )
  return document
}

/** The body as a document that must not have the extension, under any name. */
async function plain(parts: AdminParts, request: AdminRequest): Promise<OwnWords> {
  const { path_matching: matching } = parts.config.compat
  return toOwnWords('oas', await request.document(), parts.config.compat.vendor_aliases, matching)
}

function asFile(answer: AdminAnswer, name: string): AdminAnswer {
  return { ...answer, fields: `${answer.fields}Content-Disposition: attachment; filename="${name}"\r\n` }
}

function fileWord(text: string): string {
  return text.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 100) || 'api'
}
