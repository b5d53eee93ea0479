import { fault } from '../../errors/fault.ts'
import {
  audienceFlaw,
  isWithinResource,
  listedResource,
  normalResource,
  resourceFlaw,
} from '../../model/oauth-clients/oauth-rules.ts'
import type { OAuthCall } from '../endpoints/parts.ts'

/** Most that one request may name. */
const MOST = 16

/** The part of a call that tells the resources of its API. */
export type ResourceCall = Pick<OAuthCall, 'api' | 'issuer' | 'ownResources'>

interface Asked {
  all(name: string): readonly string[]
}

/**
 * Reads for which resources a request asks for a token: `resource` (RFC 8707 section 2) and `audience` (a name of the same, RFC 8693
 * section 2.1), both as often as wanted. The API itself, or anything below its address, is answered as its issuer. [] = none is named.
 * @throws Fault `oauth_invalid_target` for a malformed one, and for one that the API gives no tokens for
 */
export function readResources(asked: Asked, call: ResourceCall): readonly string[] {
  const uris = asked.all('resource')
  const names = asked.all('audience')
  if (uris.length + names.length > MOST) throw fault('oauth_invalid_target', `at most ${MOST} can be named`)
  for (const uri of uris) refuse('resource', resourceFlaw(uri))
  for (const name of names) refuse('audience', audienceFlaw(name))
  return resourcesAt(call, [...uris, ...names])
}

/**
 * The resources of a token: those that were granted, or the part of them that its request names; where the grant named none, those of
 * the request (RFC 8707 section 2.2). @throws Fault `oauth_invalid_target` for another one, and for one that was withdrawn
 */
export function chosenResources(
  asked: Asked,
  call: ResourceCall,
  granted: readonly string[] | undefined,
): { readonly resources: readonly string[]; readonly granted: readonly string[] } {
  const chosen = readResources(asked, call)
  if (granted === undefined || granted.length === 0) return { resources: chosen, granted: chosen }
  const left = resourcesAt(call, granted)
  if (!chosen.every((each) => left.includes(each)))
    throw fault('oauth_invalid_target', 'a resource is not among those that were granted')
  return { resources: chosen.length === 0 ? left : chosen, granted: left }
}

/** The same resources as this authorization server names them. Where a dashboard does not know its own they stay as they are. */
function resourcesAt({ api, issuer, ownResources }: ResourceCall, named: readonly string[]): readonly string[] {
  if (named.length === 0) return named
  const own = ownResources.map(normalResource)
  const found = named.map((each) => {
    const normal = normalResource(each)
    if (own.some((resource) => isWithinResource(normal, resource))) return issuer
    const allowed = listedResource(api.oauth.allowedResources, each)
    if (allowed !== undefined) return allowed
    if (own.length === 0) return each
    throw fault('oauth_invalid_target', 'a resource is neither this API nor one that it gives tokens for')
  })
  return [...new Set(found)]
}

function refuse(name: string, flaw: string | undefined): void {
  if (flaw !== undefined) throw fault('oauth_invalid_target', `${name} ${flaw}`)
}
