import { documentOf } from '../../model/api/place.ts'
import { readApi } from '../../model/api/read.ts'
import type { ApiDocument } from '../../model/api.ts'
import type { JsonObject } from '../../model/json.ts'
import { versionsOf } from '../../publish/api-versions.ts'
import { findApi } from '../../publish/apis.ts'
import { type AdminAnswer, json } from './answer.ts'
import { type AdminParts, publishParts } from './parts.ts'
import type { AdminRequest } from './request.ts'

/** Answers an API and the APIs that are versions of it. @throws Fault `not_found` (404) */
export async function listVersions(parts: AdminParts, request: AdminRequest): Promise<AdminAnswer> {
  const publish = publishParts(parts)
  const base = documentOf((await findApi(publish, request.param('api'))).body)
  const { name, chosen, versions } = versionsOf(base)
  const itself = line(base, name, chosen === '' || chosen === 'self' || chosen === name)
  const others: JsonObject[] = []
  for (const [versionName, apiId] of versions) {
    const stored = await parts.store.documents.find('api', 'api_id', apiId)
    if (stored !== undefined && apiId !== base.api_id)
      others.push(line(documentOf(stored.body), versionName, chosen === versionName))
  }
  return json({ status: 'success', apis: [itself, ...others] })
}

function line(document: ApiDocument, versionName: string, isDefaultVersion: boolean): JsonObject {
  const { internal, expirationDate } = served(document)
  return { id: document.api_id, name: document.name, versionName, internal, expirationDate, isDefaultVersion }
}

/** A stored definition that can no longer be read is listed all the same. */
function served(document: ApiDocument) {
  try {
    const { internal, expiresAt } = readApi(document)
    return { internal, expirationDate: expiresAt === undefined ? '' : new Date(expiresAt).toISOString() }
  } catch {
    return { internal: false, expirationDate: '' }
  }
}
