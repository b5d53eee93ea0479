import { fault } from '../../../errors/fault.ts'
import { isDocumentId } from '../../../model/documents/ids.ts'
import type { JsonObject } from '../../../model/json/json.ts'
import { refuseMember } from '../../../model/portal/settings/portal-fields.ts'
import { NO_LOOK, readCss, readJs, readMenus } from '../../../model/portal/settings/portal-look.ts'
import { retryOnConflict } from '../../../runtime/retry-on-conflict.ts'
import { OPTIMISTIC_LOCK_CONFLICT, type OptimisticLockParts } from '../../documents/optimistic-lock.ts'
import { auditOf, type PublishParts, withLock } from '../../documents/parts.ts'
import { claimPortalHost } from '../../organisations/portal-host.ts'
import { saveSingleton } from './single-document.ts'

/** Who writes what of the look of a portal. */
export interface LookChange {
  readonly orgId: string
  readonly sent: JsonObject
  readonly actor: string
}

const HOST = /^(?:\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)(?::([0-9]{1,5}))?$/

/** Writes style sheets. Answers the id of the look. @throws Fault `portal_invalid` (400), `revision_conflict` (409) */
export function saveCss(parts: PublishParts, { orgId, sent, actor }: LookChange) {
  const edit = (before: JsonObject = NO_LOOK) => readCss(sent, before)
  return saveSingleton(parts, { kind: 'portal_look', orgId, actor, edit })
}

/** Writes the script of the pages. Answers the id of the look. @throws Fault `portal_invalid` (400), `revision_conflict` (409) */
export function saveJs(parts: PublishParts, { orgId, sent, actor }: LookChange) {
  const edit = (before: JsonObject = NO_LOOK) => readJs(sent, before)
  return saveSingleton(parts, { kind: 'portal_look', orgId, actor, edit })
}

/** Writes the menus. Answers their id. @throws Fault `portal_invalid` (400), `revision_conflict` (409) */
export function saveMenus(parts: PublishParts, { orgId, sent, actor }: LookChange) {
  return saveSingleton(parts, { kind: 'portal_menu', orgId, actor, edit: () => readMenus(sent) })
}

/**
 * Names the host that the portal of an organisation is reached at; '' takes the name away. It is in force at once.
 * @throws Fault `portal_invalid` (400), `portal_taken` (409) for the host of another organisation, `not_found` (404)
 */
export function saveCname(
  parts: PublishParts & OptimisticLockParts,
  { orgId, cname, actor }: Omit<LookChange, 'sent'> & { cname: string },
) {
  checkHost(cname)
  const save = async () => {
    const stored = isDocumentId(orgId) ? await parts.documents.get('organisation', orgId) : undefined
    if (stored === undefined) throw fault('not_found', 'Could not retrieve org detail')
    const turn = await claimPortalHost(parts, cname, stored.id)
    const body = { ...stored.body, cname, cname_enabled: cname !== '' }
    const put = { op: 'put', kind: 'organisation', id: stored.id, body, ifRevision: stored.revision } as const
    await parts.documents.commit([put, ...turn], auditOf(parts, actor, 'organisation.cname', orgId, { id: orgId }))
  }
  // In turn, so that of two organisations that want one host only one gets it.
  return withLock(parts, () => retryOnConflict(save, OPTIMISTIC_LOCK_CONFLICT))
}

function checkHost(cname: string): void {
  if (cname === '') return
  const found = HOST.exec(cname)
  if (found === null || cname.includes('..') || Number(found[1] ?? 1) > 65_535 || Number(found[1] ?? 1) === 0)
    refuseMember('cname', 'must be a host, with or without :port')
}
