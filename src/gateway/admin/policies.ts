import type { JsonObject } from '../../model/json/json.ts'
import { wholePolicy } from '../../model/sessions/session-zeros.ts'
import { missingApisMember } from '../../publish/policies/missing-apis.ts'
import { createPolicy, findPolicy, removePolicy, updatePolicy } from '../../publish/policies/policies.ts'
import { changed, json } from './answer.ts'
import { listDocuments } from './lists.ts'
import { type AdminParts, publishParts, waitUntilServed } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { AdminRoute } from './route.ts'

/** `/policies`: what keys may do, by name. */
export function policyRoutes(parts: AdminParts): AdminRoute[] {
  const publish = publishParts(parts)
  const wanted = (request: AdminRequest) => {
    const orgId = request.text('org_id')
    return { id: request.param('id'), ...(orgId !== '' && { orgId }) }
  }
  const missing = (body: JsonObject) => {
    const served = new Set(parts.fileDocuments().map(({ api_id }) => api_id))
    return missingApisMember(parts.documents, body, 'warnings', served)
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
        const body = await request.ofOrganisation()
        const { id, revision } = await createPolicy(publish, body, request.actor)
        await waitUntilServed(parts, revision)
        return changed(id, 'added', await missing(body))
      },
    },
    {
      method: 'GET',
      path: '/policies/{id}',
      run: async (request) => {
        const { id, orgId } = wanted(request)
        return json(shown(request, (await findPolicy(publish, id, orgId)).body))
      },
    },
    {
      method: 'PUT',
      path: '/policies/{id}',
      run: async (request) => {
        const body = await request.object()
        const { id, revision } = await updatePolicy(publish, wanted(request), body, request.actor)
        await waitUntilServed(parts, revision)
        return changed(id, 'modified', await missing(body))
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
