import { isIP } from 'node:net'
import { definitionFault } from '../../model/apis/check/validate.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { EXTENSION, extensionOf } from '../../model/apis/definition/extension.ts'
import type { Flaw } from '../../model/apis/definition/flaw.ts'
import { flagOf, objectOf, objectsOf, textOf } from '../../model/apis/definition/members.ts'
import type { TreePath } from '../../model/apis/definition/tree.ts'
import { readKeyAddress } from '../../model/authentication/jwt-key.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { isPublicAddress } from '../../model/webhooks/webhook-target.ts'

const REASON =
  'is on a loopback, link-local or private network, which gateways do not ask: set webhooks.allow_private to let them'

/**
 * Refuses key sets and introspection endpoints at addresses that no gateway of this installation may read: those that say so by themselves. Names are judged when they
 * are resolved. @throws Fault `definition_invalid`
 */
export function refusePrivateKeySets({ format, definition }: ApiDocument, allowPrivate: boolean): void {
  if (allowPrivate) return
  const flaws = format === 'oas' ? oasFlaws(definition) : classicFlaws(definition)
  if (flaws.length > 0) throw definitionFault(flaws)
}

function classicFlaws(classic: JsonObject): Flaw[] {
  const flaws: Flaw[] = []
  if (flagOf(classic, 'enable_jwt')) {
    const sets = objectsOf(classic, 'jwt_jwks_uris')
    flaws.push(...flawsOfSets(textOf(classic, 'jwt_source'), ['jwt_source'], sets, ['jwt_jwks_uris']))
  }
  const external = objectOf(classic, 'external_oauth')
  return flagOf(external, 'enabled') ? [...flaws, ...flawsOfProviders(external, ['external_oauth'])] : flaws
}

function oasFlaws(document: JsonObject): Flaw[] {
  const authentication = objectOf(objectOf(extensionOf(document), 'server'), 'authentication')
  if (!flagOf(authentication, 'enabled')) return []
  const schemes = objectOf(authentication, 'securitySchemes')
  return Object.keys(schemes).flatMap((name) => {
    const scheme = objectOf(schemes, name)
    const at = [EXTENSION, 'server', 'authentication', 'securitySchemes', name]
    if (!flagOf(scheme, 'enabled')) return []
    const sets = objectsOf(scheme, 'jwksURIs')
    return [
      ...flawsOfSets(textOf(scheme, 'source'), [...at, 'source'], sets, [...at, 'jwksURIs']),
      ...flawsOfProviders(scheme, at),
    ]
  })
}

/** Issuers whose tokens are taken. */
function flawsOfProviders(holder: JsonObject, at: TreePath): Flaw[] {
  return objectsOf(holder, 'providers').flatMap((provider, index) => {
    const place = [...at, 'providers', String(index)]
    const introspection = {
      url: textOf(objectOf(provider, 'introspection'), 'url'),
      at: [...place, 'introspection', 'url'],
    }
    return [
      ...flawsOfSets(textOf(objectOf(provider, 'jwt'), 'source'), [...place, 'jwt', 'source'], [], place),
      ...(isPrivate(introspection.url) ? [{ at: introspection.at, reason: REASON }] : []),
    ]
  })
}

function flawsOfSets(source: string, at: TreePath, sets: readonly JsonObject[], listAt: TreePath): Flaw[] {
  const listed = sets.map((entry, index) => ({ url: textOf(entry, 'url'), at: [...listAt, String(index), 'url'] }))
  const single = { url: readKeyAddress(source) ?? '', at }
  return [single, ...listed].filter(({ url }) => isPrivate(url)).map((each) => ({ at: each.at, reason: REASON }))
}

function isPrivate(url: string): boolean {
  const host = URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$|\.$/, '$1') : ''
  return host === 'localhost' || host.endsWith('.localhost') || (isIP(host) !== 0 && !isPublicAddress(host))
}
