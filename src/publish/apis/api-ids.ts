import { fault } from '../../errors/fault.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { EXTENSION, extensionOf, objectOf } from '../../model/apis/definition/members.ts'
import type { JsonObject } from '../../model/json/json.ts'
import type { Documents, StoredDocument } from '../../store/ports/ports.ts'

/** The ids that a definition names; '' where it names none. */
export interface ApiIds {
  readonly apiId: string
  readonly orgId: string
  readonly documentId: string
}

const MAX_LENGTH = 256

/** Reads the ids where either format keeps them. @throws Fault `definition_invalid` for an id that is no text, or too long */
export function idsOf(format: ApiDocument['format'], definition: JsonObject): ApiIds {
  if (format === 'classic') {
    const read = (name: string) => textAt(definition, name, name)
    return { apiId: read('api_id'), orgId: read('org_id'), documentId: read('id') }
  }
  const info = objectOf(extensionOf(definition), 'info')
  const read = (name: string) => textAt(info, name, `${EXTENSION}.info.${name}`)
  return { apiId: read('id'), orgId: read('orgId'), documentId: read('dbId') }
}

/** A copy of a definition that names these ids. One without the extension stays as it is: reading it says what is missing. */
export function withIds(
  format: ApiDocument['format'],
  definition: JsonObject,
  { apiId, orgId, documentId }: ApiIds,
): JsonObject {
  if (format === 'classic') return { ...definition, api_id: apiId, org_id: orgId, id: documentId }
  const extension = extensionOf(definition)
  if (extension === undefined) return definition
  const info = { ...objectOf(extension, 'info'), id: apiId, orgId, dbId: documentId }
  return { ...definition, [EXTENSION]: { ...extension, info } }
}

/**
 * The stored API that an organisation means by an id; undefined also where another organisation has it: ids of APIs are unique
 * across organisations, and no reference leads from one to another. @throws Fault `store_away`
 */
export async function apiOfOrg(
  documents: Pick<Documents, 'find'>,
  orgId: string,
  apiId: string,
): Promise<StoredDocument<'api'> | undefined> {
  const found = apiId === '' ? undefined : await documents.find('api', 'api_id', apiId)
  return found?.body.org_id === orgId ? found : undefined
}

function textAt(holder: JsonObject, name: string, path: string): string {
  const value = holder[name] ?? ''
  if (typeof value !== 'string') throw fault('definition_invalid', `${path}: must be a text`)
  if (value.length > MAX_LENGTH)
    throw fault('definition_invalid', `${path}: must not be longer than ${MAX_LENGTH} characters`)
  return value
}
