import { fault, toFault } from '../../errors/fault.ts'
import { publicText as faultText } from '../../errors/render.ts'
import { warningsMember } from '../../model/apis/check/definition-warnings.ts'
import { toOas } from '../../model/apis/convert/convert.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { categoriesOf, metadataOfApi } from '../../model/apis/definition/api-metadata.ts'
import { EXTENSION, objectOf, textOf } from '../../model/apis/definition/members.ts'
import { documentOf } from '../../model/apis/definition/stored-api.ts'
import { copyTree, getAt, member, putAt, removeAt, setMember } from '../../model/apis/definition/tree.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { type ApiDraft, publishApi, tryApi } from '../../publish/apis/apis.ts'
import type { PublishParts } from '../../publish/documents/parts.ts'
import { inTurns } from '../../runtime/turns.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'

/** `dryRun` shows; `stage` puts the new form beside the old one; `promote` lets the staged one take over; `direct` does it at once. */
export const MODES = ['dryRun', 'stage', 'promote', 'direct'] as const

export interface Migration {
  readonly mode: (typeof MODES)[number]
  /** An API that was staged before is staged again. */
  readonly overrideStaged: boolean
  /** True for APIs that the caller may see. */
  readonly sees: (stored: StoredDocument) => boolean
  /** The common part of every draft. */
  readonly draft: Pick<ApiDraft, 'orgId' | 'mayCollide' | 'mayUse' | 'actor'>
}

/** The result for one API. */
export interface Migrated {
  readonly id: string
  readonly name: string
  readonly status: 'success' | 'failed' | 'skipped'
  readonly reason: string
  /** Pointers of what has no OpenAPI twin and is carried along as it was. */
  readonly carried: readonly string[]
  /** Members that are taken and do nothing; absent where there are none. */
  readonly warnings?: Json
  /** Of what was staged; absent otherwise. */
  readonly stagedId?: string
  /** The result of a dry run. */
  readonly oas?: JsonObject
}

const STAGED_ID = 'staging-'
const STAGED_NAME = '[staged] '
const STAGED_PATH = '/svc-staging'

/** Brings one classic API into the OpenAPI format. What cannot be said there without loss is refused, and the API stays as it is. */
export async function migrateApi(
  parts: PublishParts,
  migration: Migration,
  stored: StoredDocument,
): Promise<{ result: Migrated; revision: number }> {
  const document = documentOf(stored.body)
  const about = { id: document.api_id, name: document.name, carried: [] as readonly string[] }
  if (document.format === 'oas')
    return { result: { ...about, status: 'skipped', reason: 'the API is in OpenAPI format' }, revision: 0 }
  try {
    const { document: oas, lost, carried } = toOas(document.definition)
    if (lost.length > 0)
      return { result: { ...about, status: 'failed', reason: `would be lost: ${lost.join(', ')}` }, revision: 0 }
    const done = await STEPS[migration.mode](parts, migration, { stored, document, oas })
    const warnings = await inTurns(warningsMember({ format: 'oas', definition: oas }, 'warnings'))
    const result = { ...about, status: 'success', reason: '', carried, ...warnings, ...done.more } as const
    return { result, revision: done.revision }
  } catch (error) {
    const refusal = toFault(error)
    if (refusal.entry.status >= 500) throw error
    return { result: { ...about, status: 'failed', reason: faultText(refusal) }, revision: 0 }
  }
}

interface Old {
  readonly stored: StoredDocument
  readonly document: ApiDocument
  /** The whole of it as OpenAPI. */
  readonly oas: JsonObject
}

type Step = (
  parts: PublishParts,
  migration: Migration,
  old: Old,
) => Promise<{ revision: number; more?: Pick<Migrated, 'stagedId' | 'oas'> }>

const STEPS: Readonly<Record<Migration['mode'], Step>> = {
  async dryRun(parts, { draft }, old) {
    const tried = await tryApi(parts, { ...draft, ...inPlace(old, old.oas) })
    return { revision: 0, more: { oas: tried.document.definition } }
  },
  async direct(parts, { draft }, old) {
    return { revision: (await publishApi(parts, { ...draft, ...inPlace(old, old.oas) })).revision }
  },
  async stage(parts, { draft, overrideStaged, sees }, old) {
    const stagedId = STAGED_ID + old.document.api_id
    const before = await parts.documents.find('api', 'api_id', stagedId)
    const again = before !== undefined && overrideStaged && sees(before) && isStagedOf(before, old)
    const { revision } = await publishApi(parts, {
      ...draft,
      format: 'oas',
      definition: staged(old, stagedId),
      metadata: { ...metadataOfApi(old.stored.body), categories: categoriesOf(old.stored.body) },
      ...(again ? { apiId: stagedId } : { stagedOf: old.stored.id }),
    })
    return { revision, more: { stagedId } }
  },
  async promote(parts, { draft, sees }, old) {
    const stagedId = STAGED_ID + old.document.api_id
    const before = await parts.documents.find('api', 'api_id', stagedId)
    if (before === undefined || !sees(before) || !isStagedOf(before, old) || documentOf(before.body).format !== 'oas')
      throw fault('not_found', 'it was not staged')
    const definition = promoted(documentOf(before.body).definition, old)
    const { revision } = await publishApi(parts, { ...draft, ...inPlace(old, definition), instead: [stagedId] })
    return { revision }
  },
}

/** True for a copy that was staged. Its id alone says nothing: anyone may create an API under it. */
function isStagedOf(copy: StoredDocument, { stored }: Old): boolean {
  return copy.body.staged_of === stored.id
}

/** A draft that replaces the classic definition. Words of its name that were categories become categories. */
function inPlace({ stored, document }: Old, definition: JsonObject): Omit<ApiDraft, 'actor'> {
  return {
    format: 'oas',
    definition,
    apiId: document.api_id,
    mayBecome: { format: true },
    metadata: { categories: categoriesOf(stored.body) },
  }
}

/** A copy that exists alongside the classic API: with a new ID, name and path, and not a version of another API. */
function staged({ oas, document }: Old, stagedId: string): JsonObject {
  const copy = copyTree(oas)
  removeAt(copy, [EXTENSION, 'info', 'dbId'])
  removeAt(copy, [EXTENSION, 'info', 'versioning'])
  putAt(copy, [EXTENSION, 'info', 'id'], stagedId)
  putAt(copy, [EXTENSION, 'info', 'name'], STAGED_NAME + document.name)
  putAt(copy, LISTEN_PATH, STAGED_PATH + pathOf(oas))
  return copy
}

/** The staged definition, as the replacement of the classic API. */
function promoted(stagedDefinition: JsonObject, { oas }: Old): JsonObject {
  const copy = copyTree(stagedDefinition)
  const [mine, before] = [objectOf(copy[EXTENSION], 'info'), objectOf(oas[EXTENSION], 'info')]
  for (const name of ['id', 'dbId', 'versioning']) {
    const kept = member(before, name)
    if (kept === undefined) delete mine[name]
    else setMember(mine, name, copyTree(kept))
  }
  const name = textOf(mine, 'name')
  if (name.startsWith(STAGED_NAME)) mine.name = name.slice(STAGED_NAME.length)
  const path = pathOf(copy)
  if (path.startsWith(STAGED_PATH)) putAt(copy, LISTEN_PATH, path.slice(STAGED_PATH.length))
  return copy
}

const LISTEN_PATH = [EXTENSION, 'server', 'listenPath', 'value']

function pathOf(oas: JsonObject): string {
  const path = getAt(oas, LISTEN_PATH)
  return typeof path === 'string' ? path : '/'
}
