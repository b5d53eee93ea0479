import { fault } from '../../errors/fault.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { liftedLimits } from '../../model/limits/limit-parts.ts'
import { POLICY_SCHEMA } from '../../model/policies/policy.ts'
import { wholePolicy } from '../../model/sessions/session-zeros.ts'
import type { SecretParts } from '../../publish/documents/parts.ts'
import { inItsOrganisation } from '../../publish/organisations/organisation-of.ts'
import { missingApis } from '../../publish/policies/missing-apis.ts'
import { createPolicy, removePolicy, updatePolicy } from '../../publish/policies/policies.ts'
import { findPolicy, requirePolicy } from '../../publish/policies/policy-ids.ts'
import { changed, json } from './answer.ts'
import { listDocuments } from './lists.ts'
import { type AdminParts, publishParts, waitUntilServed } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { AdminRoute } from './route.ts'
import { sentRights, warningsField } from './sent-rights.ts'

/** `/policies`: what keys may do, by name. */
export function policyRoutes(parts: AdminParts): AdminRoute[] {
  const publish = publishParts(parts)
  const wanted = (request: AdminRequest) => {
    const orgId = request.text('org_id')
    return { id: request.param('id'), ...(orgId !== '' && { orgId }) }
  }
  const warned = async (body: JsonObject, before: JsonObject = {}) => {
    const served = new Set(parts.fileDocuments().map(({ api_id }) => api_id))
    const org_id = body.org_id || before.org_id || publish.defaultOrg()
    const missing = await missingApis(parts.documents, { ...body, org_id }, served)
    return [...liftedLimits(before, body), ...missing]
  }
  return [
    {
      method: 'GET',
      path: '/policies',
      run: (request) => listDocuments(parts, request, 'policy', (body) => shown(request, body)),
    },
    {
      method: 'POST',
      path: '/policies',
      run: async (request) => {
        const sent = await request.ofOrganisation()
        const there = request.isAlias ? await policyThere(publish, sent) : undefined
        const replaced = there && (await findPolicy(publish, there.id, there.orgId))?.body
        const { body, warnings } = await sentRights(parts, request, sent, { schema: POLICY_SCHEMA, before: replaced })
        const { id, revision } =
          there === undefined
            ? await createPolicy(publish, body, request.actor)
            : await updatePolicy(publish, there, body, request.actor)
        await waitUntilServed(parts, revision)
        return changed(id, 'added', warningsField([...warnings(), ...(await warned(body))]))
      },
    },
    {
      method: 'GET',
      path: '/policies/{id}',
      run: async (request) => {
        const { id, orgId } = wanted(request)
        return json(shown(request, (await requirePolicy(publish, id, orgId)).body))
      },
    },
    {
      method: 'PUT',
      path: '/policies/{id}',
      run: async (request) => {
        const named = wanted(request)
        const before = await findPolicy(publish, named.id, named.orgId)
        const { body, warnings } = await sentRights(parts, request, await request.object(), {
          schema: POLICY_SCHEMA,
          before: before?.body,
        })
        const isNew = request.isAlias && before === undefined
        const { id, revision } = isNew
          ? await createPolicy(publish, { ...body, id: withId(body, named.id) }, request.actor)
          : await updatePolicy(publish, named, body, request.actor)
        await waitUntilServed(parts, revision)
        return changed(id, 'modified', warningsField([...warnings(), ...(await warned(body, before?.body))]))
      },
    },
    {
      method: 'DELETE',
      path: '/policies/{id}',
      run: async (request) => {
        const { id, revision } = await removePolicy(publish, wanted(request), request.actor)
        await waitUntilServed(parts, revision)
        return changed(id, 'deleted')
      },
    },
  ]
}

function shown(request: AdminRequest, policy: JsonObject): JsonObject {
  return request.isAlias ? wholePolicy(policy) : policy
}

/** The policy that a body means, where the organisation has it. */
async function policyThere(
  parts: SecretParts,
  body: JsonObject,
): Promise<{ readonly id: string; readonly orgId: string } | undefined> {
  const { org_id: orgId = '', id, _id } = await inItsOrganisation(parts, body)
  for (const named of [id, _id]) {
    if (typeof named !== 'string' || named === '' || typeof orgId !== 'string') continue
    if ((await findPolicy(parts, named, orgId)) !== undefined) return { id: named, orgId }
  }
  return undefined
}

/** The id of the path, which the body may repeat. @throws Fault `policy_invalid` (400) */
function withId({ id }: JsonObject, named: string): string {
  if ((id ?? '') !== '' && id !== named)
    throw fault('policy_invalid', 'Request ID does not match that in policy! For Update operations these must match.')
  return named
}
