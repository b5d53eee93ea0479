import type { FaultCode } from '../../errors/catalog.ts'
import { fault } from '../../errors/fault.ts'
import { isDocumentId } from '../../model/documents/ids.ts'
import { newReferences, type Reference, type ReferenceKind } from '../../model/documents/references.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { referencedHook } from '../../publish/events/events.ts'
import { registrationsOf } from '../../publish/oauth-clients/oauth-client-parts.ts'
import type { Documents } from '../../store/ports/ports.ts'
import { isVisiblePolicy } from '../policies/policy-apis.ts'
import type { Call } from '../routes/call.ts'
import type { DashboardParts } from '../server/parts.ts'
import { apisOfAccess } from './co-owned.ts'
import { seesDocumented } from './owned.ts'

type Writer = Pick<Call, 'visibility' | 'actor'>
type Parts = Pick<DashboardParts, 'documents' | 'policyApis'>

/** How references are judged. */
interface Judging {
  /** Ids of what the same writer is about to make, the document itself among them. */
  readonly made?: { readonly [Kind in ReferenceKind]?: ReadonlySet<string> }
  /** The refusal, in the words of the noun; `reference_unknown` (400) names the place. */
  readonly code?: FaultCode
}

/**
 * Refuses a document that refers to what its writer does not see, unless it did so before in the same place and words. What others
 * own, what another organisation has and what is not there are refused alike: it may come to be there. Writers from whom nothing is
 * hidden may name what is not there yet: imports come in any order.
 * @throws Fault `reference_unknown` (400) naming the place, or the given code
 */
export async function checkReferences(
  parts: Parts,
  writer: Writer,
  kind: string,
  body: JsonObject,
  before?: JsonObject,
  { made = {}, code = 'reference_unknown' }: Judging = {},
): Promise<void> {
  if (writer.visibility.everything) return
  for (const reference of newReferences(kind, body, before)) {
    if (made[reference.kind]?.has(reference.id) || (await isSeen(parts, writer, reference))) continue
    throw code === 'reference_unknown' ? fault(code, `${reference.at}: ${NOUN[reference.kind]} not found`) : fault(code)
  }
}

/**
 * Refuses owners that are no users or groups of the organisation, also for administrators; those of before may stay.
 * @throws Fault `body_invalid` (400) naming the first
 */
export async function checkOwnersKnown(
  { documents }: Pick<DashboardParts, 'documents'>,
  orgId: string,
  owners: JsonObject,
  before?: JsonObject,
): Promise<void> {
  for (const { kind, id } of newReferences('api_owners', owners, before))
    if (!(await isOfOrg(documents, orgId, kind, id))) throw fault('body_invalid', `there is no ${NOUN[kind]} ${id}`)
}

const NOUN: Readonly<Record<ReferenceKind, string>> = {
  api: 'API',
  policy: 'policy',
  client: 'OAuth client',
  hook: 'webhook',
  documentation: 'documentation',
  subject: 'API or policy',
  user: 'user',
  user_group: 'user group',
}

/** For each kind of thing: whether the writer may see it. */
const SEEN: Readonly<
  Record<ReferenceKind, (parts: Parts, writer: Writer, reference: Reference, orgId: string) => Promise<boolean>>
> = {
  api: async (_parts, { visibility }, { id }) => visibility.apiId(id),
  async policy({ policyApis }, { visibility }, { id }, orgId) {
    const policies = await policyApis.fresh()
    return isVisiblePolicy(policies, visibility, orgId, id)
  },
  async client(parts, { visibility }, { id }, orgId) {
    for (const { body } of await registrationsOf(parts, id))
      if (body.org_id === orgId && visibility.anyApi(await apisOfAccess(parts, body))) return true
    return false
  },
  async hook(parts, _writer, { text }, orgId) {
    const [id, name] = JSON.parse(text)
    return (await referencedHook(parts, orgId, { hook: { id, name } })) !== undefined
  },
  async documentation(parts, { visibility }, { id }, orgId) {
    const found = isDocumentId(id) ? await parts.documents.get('portal_documentation', id) : undefined
    return (
      found?.body.org_id === orgId && (await seesDocumented(parts, visibility, orgId, String(found.body.api_id ?? '')))
    )
  },
  // A reference to a policy is a reference to all its APIs.
  async subject({ policyApis }, { visibility }, { id }, orgId) {
    if (visibility.apiId(id)) return true
    const policies = await policyApis.fresh()
    return isVisiblePolicy(policies, visibility, orgId, id)
  },
  user: ({ documents }, _writer, { kind, id }, orgId) => isOfOrg(documents, orgId, kind, id),
  user_group: ({ documents }, _writer, { kind, id }, orgId) => isOfOrg(documents, orgId, kind, id),
}

function isSeen(parts: Parts, writer: Writer, reference: Reference): Promise<boolean> {
  return SEEN[reference.kind](parts, writer, reference, writer.actor?.orgId ?? '')
}

async function isOfOrg(documents: Documents, orgId: string, kind: string, id: string): Promise<boolean> {
  const found = isDocumentId(id) ? await documents.get(kind, id) : undefined
  return found?.body.org_id === orgId
}
