import { Type } from 'typebox'
import { type JsonObject, mergePatch } from '../../model/json/json.ts'
import { liftedLimits } from '../../model/limits/limit-parts.ts'
import { describedAs } from '../../model/openapi/component-schemas.ts'
import { POLICY_SCHEMA, withRightsMap } from '../../model/policies/policy.ts'
import { policyApisOf } from '../../model/policies/policy-body.ts'
import { missingApis } from '../../publish/policies/missing-apis.ts'
import { createPolicy, type PolicyRules, removePolicy, updatePolicy } from '../../publish/policies/policies.ts'
import type { StoredDocument } from '../../store/ports/ports.ts'
import { checkSoleOwner, soleOwnership } from '../access/co-owned.ts'
import { maskSecretsFor, restoreMaskedSecrets } from '../access/secrets-view.ts'
import { RIGHTS_QUERY, vendorRights } from '../access/vendor-rights.ts'
import { bare, ok } from '../routes/answer.ts'
import type { Call } from '../routes/call.ts'
import { DoneEnvelope, OkStatus, PageCount, WARNINGS_TEXT, WarnedEnvelope, Warning } from '../routes/envelope.ts'
import { listed } from '../routes/listed.ts'
import { PAGE_SIZE, RowTotal, sizedPageOf } from '../routes/page.ts'
import type { Route } from '../routes/route.ts'
import { storageId } from '../routes/text-forms.ts'
import type { DashboardParts } from '../server/parts.ts'
import { policyQuery } from './policy-query.ts'
import { changesMore, PolicyShape, toPolicyView, withOneState } from './policy-shape.ts'
import { checkPolicyIdWasNotOfOthers, checkRightsVisible, policyInPath } from './policy-view.ts'

const PATH = '/api/portal/policies'
const ONE = `${PATH}/{id}`
const READ = { permission: 'policies', intent: 'read' } as const
const WRITE = { permission: 'policies', intent: 'write' } as const

const List = Type.Object(
  { Data: Type.Array(PolicyShape, { description: 'Policies of the page.' }), Pages: PageCount, total: RowTotal },
  { title: 'PolicyPage' },
)
const Created = Type.Object(
  {
    Status: OkStatus,
    Message: storageId('Storage id of the policy: 24 hexadecimal digits.'),
    Meta: Type.Null(),
    Warnings: Type.Optional(Type.Array(Warning, { description: WARNINGS_TEXT })),
  },
  { title: 'PolicyCreated' },
)
const Body = Type.Object({}, describedAs(POLICY_SCHEMA))

/** `/api/portal/policies`: what keys may do, by name. Both ids of a policy are taken wherever one is named. */
export function policyRoutes(parts: DashboardParts): Route[] {
  return [...listRoutes(parts), ...oneRoutes(parts)]
}

function listRoutes(parts: DashboardParts): Route[] {
  const apis = parts.policyApis
  const list = async (call: Call) => {
    const sole = await soleOwnership(parts, call)
    const { page, ...total } = sizedPageOf(call)
    return listed(parts.documents, 'policy', await policyQuery(parts, apis, call), page, {
      ...{ name: 'Data', pages: 'Pages', ...total },
      shape: ({ body }) => maskSecretsFor(call, 'policies', toPolicyView(body), sole.policy(body)),
    })
  }
  return [
    {
      method: 'GET',
      path: PATH,
      access: READ,
      summary: 'List policies',
      query: { p: Type.Integer(), active: Type.Unknown() },
      answers: { 200: List },
      run: list,
    },
    {
      method: 'GET',
      path: `${PATH}/search`,
      access: READ,
      summary: 'Search policies',
      query: {
        q: Type.String({ maxLength: 256, description: 'Part of name or id.' }),
        policy_ids: Type.String({ description: 'Ids, separated by commas.' }),
        active: Type.Unknown({ description: 'Anything: only those in force.' }),
        state: Type.String({ description: 'active, draft, deny; several separated by commas.' }),
        sort: Type.String({ pattern: '^-?(?:date_created|name|state)$' }),
        api_id: Type.String({ description: 'Ids of APIs, separated by commas.' }),
        auth_type: Type.String({ description: 'Several separated by commas.' }),
        p: Type.Integer(),
        page_size: PAGE_SIZE,
      },
      answers: { 200: List },
      run: list,
    },
    {
      method: 'POST',
      path: PATH,
      access: WRITE,
      summary: 'Create a policy',
      query: RIGHTS_QUERY,
      body: Body,
      answers: { 200: Created },
      run: async (call) => {
        const sent = withRightsMap({ ...call.object(), org_id: call.actor!.orgId })
        const { body, warnings } = await vendorRights(parts, call, withOneState(sent, undefined), {
          schema: POLICY_SCHEMA,
          orgId: call.actor!.orgId,
        })
        checkRightsVisible(call, {}, body)
        checkPolicyIdWasNotOfOthers(call, body)
        const { policy } = await createPolicy(parts, body, call.actor!.email, rulesOf(parts))
        const all = [...warnings(), ...(await missingApis(parts.documents, body))]
        return ok(String(policy._id), null, all.length === 0 ? {} : { Warnings: all })
      },
    },
  ]
}

function oneRoutes(parts: DashboardParts): Route[] {
  const owned = { noun: 'policy', by: 'id' } as const
  return [
    {
      method: 'GET',
      path: ONE,
      access: READ,
      owned,
      summary: 'Read a policy',
      answers: { 200: PolicyShape },
      entityVersion: (call) => policyInPath(parts, call),
      run: async (call) => {
        const { body } = await policyInPath(parts, call)
        return bare(
          maskSecretsFor(call, 'policies', toPolicyView(body), (await soleOwnership(parts, call)).policy(body)),
        )
      },
    },
    {
      method: 'PUT',
      path: ONE,
      access: WRITE,
      owned: { ...owned, keepsOthers: true },
      summary: 'Replace a policy',
      query: RIGHTS_QUERY,
      body: Body,
      answers: { 200: WarnedEnvelope },
      entityVersion: (call) => policyInPath(parts, call),
      run: async (call) => {
        const stored = await policyInPath(parts, call)
        return save(parts, call, stored, call.object(), (written) => liftedLimits(stored.body, written))
      },
    },
    {
      method: 'PATCH',
      path: ONE,
      access: WRITE,
      owned: { ...owned, keepsOthers: true },
      summary: 'Change parts of a policy (RFC 7396)',
      query: RIGHTS_QUERY,
      body: Body,
      answers: { 200: WarnedEnvelope },
      entityVersion: (call) => policyInPath(parts, call),
      run: async (call) => {
        const stored = await policyInPath(parts, call)
        return save(parts, call, stored, mergePatch(stored.body, call.object()) as JsonObject)
      },
    },
    {
      method: 'DELETE',
      path: ONE,
      access: WRITE,
      owned,
      summary: 'Delete a policy',
      answers: { 200: DoneEnvelope },
      run: async (call) => {
        const stored = await policyInPath(parts, call, 'Could not retrieve object for deletion')
        await removePolicy(parts, named(stored, call), call.actor!.email)
        return ok('Data deleted')
      },
    },
  ]
}

/**
 * The organisation never changes; nor do the access rights to APIs that the caller does not see, and all fields that apply to
 * them. @throws Fault `not_owner` (401), `shared_with_others` (403), and as `updatePolicy`
 */
async function save(
  parts: DashboardParts,
  call: Call,
  stored: StoredDocument,
  sent: JsonObject,
  warningsOf: (written: JsonObject) => readonly JsonObject[] = () => [],
) {
  const kept = restoreMaskedSecrets(sent, stored.body, 'policy_invalid')
  const whole = withOneState(withRightsMap({ ...kept, org_id: stored.body.org_id ?? '' }), stored.body)
  const { org_id: orgId } = whole
  const { body, warnings: rewritten } = await vendorRights(parts, call, whole, {
    ...{ schema: POLICY_SCHEMA, orgId: typeof orgId === 'string' ? orgId : '', before: stored.body },
  })
  checkRightsVisible(call, stored.body, body)
  if (!call.visibility.everything && changesMore(stored.body, body))
    checkSoleOwner(call.visibility, 'The policy', policyApisOf(stored.body))
  const wanted = named(stored, call)
  await updatePolicy(parts, wanted, body, call.actor!.email, rulesOf(parts))
  const warnings = [...rewritten(), ...warningsOf(body), ...(await missingApis(parts.documents, body))]
  return ok('Data updated', null, warnings.length === 0 ? {} : { Warnings: warnings })
}

/** By its `id`: the storage id of one policy may be the `id` of another. */
function named({ id, body }: StoredDocument, call: Call) {
  return { id: typeof body.id === 'string' && body.id !== '' ? body.id : id, orgId: call.actor!.orgId }
}

function rulesOf({ config: { dashboard } }: DashboardParts): PolicyRules {
  return {
    explicitIds: dashboard.allow_explicit_policy_id,
    unsafeIds: dashboard.allow_unsafe_policy_ids,
    fillIds: true,
    uniqueNames: true,
  }
}
