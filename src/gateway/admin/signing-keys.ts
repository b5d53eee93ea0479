import { fault } from '../../errors/fault.ts'
import { systemClock } from '../../model/time/clock.ts'
import { SIGNING_ALGORITHMS, type SigningAlgorithm } from '../../oauth/signing-keys/key-ring.ts'
import { listKeys, retireKey, rotateAllKeys } from '../../oauth/signing-keys/keys.ts'
import { json } from './answer.ts'
import { type AdminParts, waitUntilServed } from './parts.ts'
import type { AdminRequest } from './request.ts'
import type { AdminRoute } from './route.ts'

/** `/oauth/signing-keys`: the keys that JWT access tokens of an organisation are signed with. Private parts are shown to nobody. */
export function signingKeyRoutes(parts: AdminParts): AdminRoute[] {
  const { documents, sealKey, clock = systemClock } = parts
  const keyParts = { documents, sealKey, clock }
  const orgOf = (request: AdminRequest) => request.text('org_id') || parts.defaultOrg()
  const answer = async (orgId: string | undefined) => json({ keys: await listKeys(keyParts, orgId) })
  return [
    {
      method: 'GET',
      path: '/oauth/signing-keys',
      run: (request) => answer(request.text('org_id') || undefined),
    },
    {
      method: 'POST',
      path: '/oauth/signing-keys/rotate',
      run: async (request) => {
        const orgId = orgOf(request)
        await waitUntilServed(parts, await rotateAllKeys(keyParts, orgId, algorithmOf(request), request.actor))
        return answer(orgId)
      },
    },
    {
      method: 'DELETE',
      path: '/oauth/signing-keys/{kid}',
      run: async (request) => {
        const orgId = orgOf(request)
        await waitUntilServed(parts, (await retireKey(keyParts, orgId, request.param('kid'), request.actor)).revision)
        return answer(orgId)
      },
    },
  ]
}

/** @throws Fault `query_invalid` (400) */
function algorithmOf(request: AdminRequest): SigningAlgorithm | undefined {
  const named = request.text('alg')
  const found = SIGNING_ALGORITHMS.find((algorithm) => algorithm === named)
  if (found === undefined && named !== '')
    throw fault('query_invalid', `alg is one of ${SIGNING_ALGORITHMS.join(', ')}`)
  return found
}
