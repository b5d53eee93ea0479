import { Type } from 'typebox'
import { fault, toFault } from '../../errors/fault.ts'
import { warningsMember } from '../../model/apis/check/definition-warnings.ts'
import { toClassic, toOas } from '../../model/apis/convert/convert.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import type { ApiMetadata } from '../../model/apis/definition/api-metadata.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import type { Flaw } from '../../model/apis/definition/tree.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { idsOf } from '../../publish/apis/api-ids.ts'
import type { VersionOf } from '../../publish/apis/api-versions.ts'
import { type ApiDraft, type PublishedApi, publishApi, removeApi } from '../../publish/apis/apis.ts'
import { inTurns, ownTurn } from '../../runtime/turns.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { checkForeignVersionsUnchanged } from '../access/co-owned.ts'
import { checkOwnersKnown, checkReferences } from '../access/references.ts'
import { restoreMaskedSecrets } from '../access/secrets-view.ts'
import { type Answer, ok, refused } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { OkStatus, OutcomeText, WARNINGS_TEXT, Warning } from '../routes/envelope.ts'
import { storageId } from '../routes/text-forms.ts'
import { flawsAtGateway } from '../server/await-gateway.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apiDocumentOf, apiNamed } from './api-document.ts'
import { newApiMetadata } from './api-metadata.ts'
import { sentWord } from './vendor-alias.ts'

/** The response of creating an API: `Meta` is the storage id, `ID` the `api_id`. Clients cut the text by its order. */
export const Created = Type.Object(
  {
    Status: OkStatus,
    Message: OutcomeText,
    Meta: storageId('Storage id of the API: 24 hexadecimal digits.'),
    ID: Type.String({ description: 'Id of the API.' }),
    Warnings: Type.Optional(Type.Array(Warning, { description: WARNINGS_TEXT })),
  },
  { title: 'ApiCreated' },
)

/** Which version of which API a new one is to be. */
export const VERSION_QUERY = {
  base_api_id: Type.String({ maxLength: 256, description: 'The API that the new one is a version of.' }),
  base_api_version_name: Type.String({ maxLength: 256, description: 'Name of that API as a version.' }),
  new_version_name: Type.String({ maxLength: 256, description: 'Name of the new API as a version.' }),
  set_default: Type.String({ description: 'true: the new version is the default.' }),
} as const

const MISSING = 'Could not retrieve API detail'

/** The API that a path names; undefined when there is none. @throws Fault `not_owner` (401) */
export async function apiOf(parts: DashboardParts, call: Call, id: string): Promise<StoredDocument | undefined> {
  try {
    return await apiDocumentOf(parts, call, id)
  } catch (error) {
    if (toFault(error).code === 'not_found') return undefined
    throw error
  }
}

/** The answer where an API that is read is not there. */
export const notReadable = (): Answer => refused(400, MISSING)
/** The answer where an API that is changed is not there. */
export const notChangeable = (): Answer => refused(404, MISSING)

/** The common part of every draft of the dashboard: the caller's organisation, the settings, the actor. */
export function draftOf(
  { config }: DashboardParts,
  call: Call,
): Pick<ApiDraft, 'orgId' | 'mayCollide' | 'mayUse' | 'actor'> {
  const { orgId } = call.actor!
  const mayCollide = config.dashboard.enable_duplicate_slugs
  return { orgId, mayCollide, mayUse: usableBy(call), actor: actorName(call) }
}

/** Returns whose listen paths the caller may overlap: with ownership, only those of its own APIs; undefined = all in the organisation. */
export function usableBy({ visibility }: Call): ApiDraft['mayUse'] {
  return visibility.everything ? undefined : (stored) => visibility.api(stored)
}

/** Who the audit log names. */
export function actorName({ actor }: Call): string {
  return actor === undefined ? '' : actor.email || actor.userId
}

/** Stores a new API and answers its ids, as a version of another when the query says so; `told`: further warnings of the answer. @throws Fault as `publishApi` */
export async function createStoredApi(
  parts: DashboardParts,
  call: Call,
  format: ApiDocument['format'],
  definition: JsonObject,
  metadata: ApiMetadata = {},
  warnings: readonly Flaw[] = [],
): Promise<Answer> {
  await ownTurn(definition, () => restoreMaskedSecrets(definition, undefined, 'definition_invalid'))
  checkIdWasNotOfOthers(call, idsOf(format, definition).apiId)
  const version = await versionOf(parts, call)
  if (version !== undefined && 'status' in version) return version
  await checkOwnersKnown(parts, call.actor!.orgId, ownersOf(metadata))
  await checkReferences(parts, call, 'api', bodyOf(format, definition, metadata), undefined, selfOf(format, definition))
  const made = await publishApi(parts, {
    ...draftOf(parts, call),
    ...{ format, definition },
    metadata: newApiMetadata(parts, call, metadata),
    ...(version && { version }),
  })
  return ok('API created', made.id, {
    ID: made.document.api_id,
    ...(await warningsIn(parts, call, made, warnings)),
  })
}

/** Replaces a stored definition; categories, owners and labels stay unless given. @throws Fault as `publishApi` */
export async function updateStoredApi(
  parts: DashboardParts,
  call: Call,
  stored: StoredDocument,
  change: Pick<ApiDraft, 'format' | 'definition' | 'metadata'>,
  message: string,
): Promise<Answer> {
  const apiId = String(stored.body.api_id)
  const before = definitionAs(change.format, stored)
  const definition = await ownTurn(change.definition, () =>
    restoreMaskedSecrets(change.definition, before, 'definition_invalid'),
  )
  const body = bodyOf(change.format, definition, change.metadata)
  await checkOwnersKnown(parts, call.actor!.orgId, ownersOf(change.metadata), stored.body)
  await checkReferences(parts, call, 'api', body, stored.body, selfOf(change.format, definition))
  checkForeignVersionsUnchanged(call.visibility, stored.body, body)
  const saved = await publishApi(parts, { ...draftOf(parts, call), ...change, definition, apiId })
  return ok(message, null, await warningsIn(parts, call, saved))
}

/** With ownership the id of a deleted API stays with its last owners: what is based on it would be its next one's. @throws Fault `id_taken` (409) */
function checkIdWasNotOfOthers({ visibility }: Call, apiId: string): void {
  if (!visibility.anyApi([apiId])) throw fault('id_taken', `API ${apiId}`)
}

async function warningsIn(parts: DashboardParts, call: Call, saved: PublishedApi, notes: readonly Flaw[] = []) {
  const flaws = [...notes, ...(saved.unchecked ?? []), ...(await flawsAtGateway(parts, saved))]
  return inTurns(warningsMember(saved.document, 'Warnings', flaws, sentWord(parts, call.bytes())))
}

/** Deletes the API that the path names, and its versions with `purge=true`. @throws Fault `not_owner` (401) */
export async function removeStoredApi(parts: DashboardParts, call: Call): Promise<Answer> {
  const stored = await apiOf(parts, call, call.param('id'))
  if (stored === undefined) return notChangeable()
  const purge = call.query('purge') === 'true'
  if (!purge) checkForeignVersionsUnchanged(call.visibility, stored.body, undefined)
  await removeApi(parts, {
    apiId: String(stored.body.api_id),
    purge,
    mayRemove: (version) => call.visibility.api(version),
    actor: actorName(call),
  })
  return ok('API deleted')
}

/** The stored definition, in the terms of a format. */
function definitionAs(format: ApiDocument['format'], { body }: StoredDocument): JsonObject {
  const { format: is, definition } = documentOf(body)
  if (is === format) return definition
  return format === 'oas' ? toOas(definition).document : toClassic(definition).definition
}

const bodyOf = (format: ApiDocument['format'], definition: JsonObject, metadata: ApiMetadata = {}): JsonObject => ({
  ...(metadata as JsonObject),
  format,
  definition,
})

/** An API may refer to itself before it is there. */
const selfOf = (format: ApiDocument['format'], definition: JsonObject) => ({
  made: { api: new Set([idsOf(format, definition).apiId]) },
})

const ownersOf = ({ user_owners = [], user_group_owners = [] }: ApiMetadata = {}): JsonObject => ({
  user_owners: [...user_owners],
  user_group_owners: [...user_group_owners],
})

/** Creating a version changes its base API, so the caller must be able to see it. */
async function versionOf(parts: DashboardParts, call: Call): Promise<VersionOf | Answer | undefined> {
  const baseApiId = call.query('base_api_id')
  const name = call.query('new_version_name')
  if (baseApiId === '')
    return name === '' ? undefined : refused(400, 'base_api_id should be set with version name header')
  if (name === '') return refused(400, 'version name header should be set with base API ID')
  const base = await apiNamed(parts.documents, call.visibility, baseApiId)
  if (base === undefined) return refused(400, 'base_api_id: API not found')
  await apiDocumentOf(parts, call, baseApiId)
  const setDefault = /^(?:true|1)$/i.test(call.query('set_default'))
  return { baseApiId: String(base.body.api_id), baseName: call.query('base_api_version_name'), name, setDefault }
}
