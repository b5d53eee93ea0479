import { fault, toFault } from '../../errors/fault.ts'
import { type DocumentId, isDocumentId, newDocumentId } from '../../model/documents/ids.ts'
import type { Json, JsonObject } from '../../model/json/json.ts'
import { sealUnlessSame, unseal } from '../../model/secrets/secret.ts'
import type { HookDraft, HookSecrets } from '../../model/webhooks/hook.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { isDeletedElsewhere } from '../documents/deleted-ids.ts'
import { auditOf, clockOf, type SecretParts } from '../documents/parts.ts'

const HOOK = 'hook'

/**
 * Stores a new webhook; a storage id that is sent is kept. One that another organisation has deleted stays that organisation's: it may put its
 * webhook back. @throws Fault `hook_taken` (409)
 */
export async function createHook(
  parts: SecretParts,
  { orgId, id: wanted, draft }: { readonly orgId: string; readonly id: Json | undefined; readonly draft: HookDraft },
  actor: string,
): Promise<DocumentId> {
  const id = isDocumentId(wanted) ? wanted : newDocumentId(clockOf(parts).wall())
  if (await isDeletedElsewhere(parts, HOOK, id, orgId)) throw fault('hook_taken')
  const body = bodyOf(parts, id, orgId, draft)
  const audit = auditOf(parts, actor, 'hook.create', orgId, { id })
  try {
    await parts.documents.commit([{ op: 'put', kind: HOOK, id, body, ifRevision: 0 }], audit)
  } catch (error) {
    if (toFault(error).code === 'revision_conflict') throw fault('hook_taken', undefined, error)
    throw error
  }
  return id
}

/** Replaces a webhook; its shared secret stays unless another one is sent. @throws Fault `revision_conflict` (409) */
export async function updateHook(
  parts: SecretParts,
  { id, revision, body: before }: StoredDocument<'hook'>,
  draft: HookDraft,
  actor: string,
): Promise<void> {
  const orgId = String(before.org_id ?? '')
  const body = bodyOf(parts, id, orgId, draft, before)
  const audit = auditOf(parts, actor, 'hook.update', orgId, { id })
  await parts.documents.commit([{ op: 'put', kind: HOOK, id, body, ifRevision: revision }], audit)
}

/** Deletes a webhook; what still waits for it is not sent any more. @throws Fault `revision_conflict` (409) */
export async function removeHook(
  parts: SecretParts,
  { id, revision, body }: StoredDocument<'hook'>,
  actor: string,
): Promise<void> {
  const orgId = String(body.org_id ?? '')
  const audit = auditOf(parts, actor, 'hook.delete', orgId, { id })
  await parts.documents.commit([{ op: 'delete', kind: HOOK, id, ifRevision: revision }], audit)
}

/** The secrets of a stored webhook, unsealed. @throws Fault `seal_broken` */
export function hookSecretsOf(
  { sealKey }: Pick<SecretParts, 'sealKey'>,
  { id, body }: Pick<StoredDocument<'hook'>, 'id' | 'body'>,
): HookSecrets {
  const { sealed } = body
  return JSON.parse(unseal(sealKey, Buffer.from(sealed, 'base64'), contextOf(id)).toString('utf8')) as HookSecrets
}

function bodyOf(
  { sealKey }: SecretParts,
  id: DocumentId,
  orgId: string,
  { body, headers, sharedSecret }: HookDraft,
  before?: StoredDocument<'hook'>['body'],
): JsonObject {
  const kept = before === undefined ? '' : hookSecretsOf({ sealKey }, { id, body: before }).shared_secret
  const secrets: HookSecrets = { header_map: headers, shared_secret: sharedSecret ?? kept }
  const sealed = sealUnlessSame(sealKey, JSON.stringify(secrets), contextOf(id), before?.sealed)
  return { ...body, org_id: orgId, sealed }
}

function contextOf(id: string): string {
  return `hook:${id}`
}
