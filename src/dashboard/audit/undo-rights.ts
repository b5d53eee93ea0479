import { fault } from '../../errors/fault.ts'
import { type DocumentId, isDocumentId } from '../../model/documents/ids.ts'
import { PLAIN_KINDS } from '../../model/documents/kinds.ts'
import type { JsonObject, Stored } from '../../model/json/json.ts'
import { mayDo } from '../../model/people/permission.ts'
import { userOf } from '../../model/people/user.ts'
import { groupOf, type UserGroup } from '../../model/people/user-group.ts'
import { apisOf } from '../../publish/audit/undo-restore.ts'
import type { AuditChange, AuditRow } from '../../store/ports/ports.ts'
import { isUnbounded } from '../access/actor.ts'
import { checkForeignVersionsUnchanged, checkSoleDocumentOwner } from '../access/co-owned.ts'
import { seesDocumented } from '../access/owned.ts'
import { checkReferences } from '../access/references.ts'
import { checkCertificateUnused, checkHookUnused } from '../access/used-by-others.ts'
import { checkAddress, checkGrantable, checkGroupReach, checkOwnersReach, checkReach } from '../people/check-rights.ts'
import { changesMore } from '../policies/policy-shape.ts'
import { checkRightsVisible } from '../policies/policy-view.ts'
import { checkSoleHolder } from '../portal/developers/holdings.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { checkProfileReach } from '../single-sign-on/profile-rights.ts'
import { ownsState } from './owned-state.ts'

/** The permission that undoing a change of a kind needs: that of the change itself, for writing; other kinds cannot be undone. */
const NEEDS: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  ...Object.fromEntries(PLAIN_KINDS),
  api: 'apis',
  policy: 'policies',
  session: 'keys',
  oauth_client: 'oauth',
  developer: 'portal',
  key_end: 'portal',
  asset: 'api_assets',
  idp_profile: 'idm',
  user: 'users',
  user_group: 'user_groups',
  label: 'admin',
  organisation: 'admin',
  key_request: 'portal',
})

/** Kinds that are based on APIs, whose owners alone may change them. */
const BASED_ON_APIS: ReadonlySet<string> = new Set(['api', 'policy', 'session', 'oauth_client'])
/** The fields of an organisation that its administrators may change, and the count that follows from its developers. */
const OWN_SETTINGS: ReadonlySet<string> = new Set([
  ...['additional_permissions', 'open_policy', 'require_second_factor', 'cname', 'cname_enabled'],
  'developer_count',
])

/**
 * Refuses users who could not have reverted the change by the ordinary calls: for lack of rights, because others own
 * an API, or because it would give rights that the caller does not have.
 * @throws Fault `permission_missing`, `rights_exceeded` (403), `not_owner` (401), `not_found` (404) for another organisation's
 */
export async function checkUndoRights(parts: DashboardParts, call: Call, row: AuditRow): Promise<void> {
  const { actor } = call
  // An unbounded user writes nothing.
  if (actor === undefined || isUnbounded(actor)) throw refusal(call)
  for (const change of row.changes) {
    checkOrganisation(actor.orgId, change)
    const needed = NEEDS[change.kind]
    if (needed === undefined) throw refusal(call)
    const may = needed === 'admin' ? actor.admin : mayDo(actor.permissions, needed, 'write')
    if (!may) throw refusal(call)
    if (BASED_ON_APIS.has(change.kind)) checkOwners(call, change)
    if (change.kind === 'organisation' && !touchesOwnSettings(change)) throw refusal(call)
    await GUARDS[change.kind]?.(parts, call, change)
    await checkOthers(parts, call, change, row.changes)
  }
}

function refusal({ url }: Call): Error {
  const path = url.split('?', 1)[0]
  return fault('permission_missing', `access denied: You do not have permission to access  ${path}`)
}

function checkOrganisation(orgId: string, { kind, id, before, after, session }: AuditChange): void {
  for (const body of [before, after]) {
    if (body === null) continue
    const named = kind === 'organisation' ? id : kind === 'idp_profile' ? body.OrgID : (body.org_id ?? session?.orgId)
    if (named !== orgId) throw fault('not_found', 'could not retrieve audit record')
  }
}

/** The caller must own one of the APIs in each state, and every restored object. */
function checkOwners({ visibility, actor }: Call, { kind, before, after }: AuditChange): void {
  const was = before === null ? [] : apisOf(kind, before)
  const is = after === null ? [] : apisOf(kind, after)
  const seen = (body: JsonObject | null, ids: readonly string[]) =>
    body === null || (kind === 'api' ? visibility.everything || ownsState(actor!, body) : visibility.anyApi(ids))
  if (!seen(before, was) || !seen(after, is)) throw fault('not_owner')
  if (visibility.everything || kind === 'api') return
  if (was.some((apiId) => !is.includes(apiId) && !visibility.apiId(apiId))) throw fault('not_owner')
}

/** Restored objects refer to nothing invisible to the caller, and take nothing from APIs of others. */
async function checkOthers(
  parts: DashboardParts,
  call: Call,
  change: AuditChange,
  all: readonly AuditChange[],
): Promise<void> {
  const { visibility } = call
  if (visibility.everything) return
  const { kind, before, after, session } = change
  // Objects that are restored together are judged separately.
  const named = (noun: 'api' | 'policy', member: string) =>
    new Set(all.flatMap((one) => (one.kind === noun && one.before !== null ? [String(one.before[member])] : [])))
  const made = { api: named('api', 'api_id'), policy: named('policy', 'id') }
  if (before !== null) await checkReferences(parts, call, kind, before, after ?? undefined, { made })
  const states = [before, after].filter((body) => body !== null)
  if (kind === 'api' && after !== null) checkForeignVersionsUnchanged(visibility, after, before ?? undefined)
  const isPolicyKept = kind === 'policy' && before !== null && after !== null && !changesMore(after, before)
  if (kind === 'policy' && before !== null && after !== null) checkRightsVisible(call, after, before)
  if (!isPolicyKept) {
    const orgId = call.actor!.orgId
    const shared = states.map((body) => ({ kind, body: { ...body, org_id: orgId } }))
    await checkSoleDocumentOwner(parts, call, shared, session?.apiIds)
  }
  if (kind === 'developer' || kind === 'key_end') {
    const id = kind === 'developer' ? change.id : String(states[0]?.developer_id ?? '')
    const now = isDocumentId(id) ? await parts.documents.get('developer', id) : undefined
    for (const body of [...states, ...(now === undefined ? [] : [now.body])])
      await checkSoleHolder(parts, call, { id: id as DocumentId, body })
  }
}

type Guard = (parts: DashboardParts, call: Call, change: AuditChange) => Promise<void>

/** The additional requirements of a noun's calls. */
const GUARDS: Readonly<Record<string, Guard>> = Object.assign(Object.create(null), {
  certificate: checkCertificate,
  hook: checkHook,
  idp_profile: checkProfile,
  portal_documentation: checkDocumented,
  user: checkUser,
  user_group: checkGroup,
} satisfies Record<string, Guard>)

async function checkCertificate(parts: DashboardParts, call: Call, { before, after }: AuditChange): Promise<void> {
  if (before === null && after !== null) await checkCertificateUnused(parts, call, after)
}

async function checkHook(parts: DashboardParts, call: Call, { id, before, after }: AuditChange): Promise<void> {
  const bodies = [before, after].filter((body) => body !== null)
  await checkHookUnused(parts, call, [id], bodies)
}

async function checkProfile(parts: DashboardParts, call: Call, { before, after }: AuditChange): Promise<void> {
  for (const body of [before, after]) if (body !== null) await checkProfileReach(parts, call, body)
}

/** The caller must own the subject in each state. */
async function checkDocumented(parts: DashboardParts, { visibility, actor }: Call, { before, after }: AuditChange) {
  for (const body of [before, after]) {
    if (body === null || (await seesDocumented(parts, visibility, actor!.orgId, String(body.api_id ?? '')))) continue
    throw fault('not_owner')
  }
}

function touchesOwnSettings({ before, after }: AuditChange): boolean {
  if (before === null || after === null) return false
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].every(
    (name) => OWN_SETTINGS.has(name) || JSON.stringify(before[name]) === JSON.stringify(after[name]),
  )
}

async function checkUser(parts: DashboardParts, { actor }: Call, { id, before, after }: AuditChange): Promise<void> {
  const user = (body: JsonObject) => userOf({ id: id as Parameters<typeof userOf>[0]['id'], revision: 0, body })
  if (after !== null) await checkReach(parts, actor!, user(after))
  if (before !== null && after !== null) checkAddress(actor!, user(after), before.email_address)
  if (before !== null) await checkGrantable(parts, actor!, user(before), after === null ? undefined : user(after))
}

async function checkGroup(parts: DashboardParts, { actor }: Call, { id, before, after }: AuditChange): Promise<void> {
  for (const body of [before, after]) {
    if (body !== null)
      checkGroupReach(
        actor!,
        groupOf({ id: id as Parameters<typeof groupOf>[0]['id'], revision: 0, body: body as Stored<UserGroup> }),
      )
  }
  await checkOwnersReach(parts, actor!, { groupIds: [id] })
}
