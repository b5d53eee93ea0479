import { definitionFault } from '../../model/apis/check/validate.ts'
import type { ApiDocument } from '../../model/apis/definition/api.ts'
import { EXTENSION, extensionOf, flagOf, objectOf, objectsOf, textOf } from '../../model/apis/definition/members.ts'
import type { Flaw, TreePath } from '../../model/apis/definition/tree.ts'
import { readKeyAddress } from '../../model/authentication/jwt-key.ts'
import type { JsonObject } from '../../model/json/json.ts'
import { readSocketUrl } from '../../model/network/socket-url.ts'
import { isPrivateTarget } from '../../model/webhooks/hook.ts'

const UNLISTED = 'is a Unix socket that gateway.upstream_sockets does not list'

/** Why such a target is refused, in words that follow its place. */
export const PRIVATE_TARGET =
  'is on a loopback, link-local or private network, which gateways do not ask: set webhooks.allow_private to let them'

/**
 * Refuses what a definition calls and no gateway of this installation may: key sets, introspection endpoints and receivers of notifications at
 * addresses that say so by themselves (names are judged when they are resolved), and a shared secret that their header cannot carry.
 * @throws Fault `definition_invalid`
 */
export function refuseForbiddenTargets({ format, definition }: ApiDocument, allowPrivate: boolean): void {
  // Nothing asks the issuers and receivers of a definition without authentication.
  if (format === 'classic' && flagOf(definition, 'use_keyless')) return
  const issuers = format === 'oas' ? oasFlaws(definition) : classicFlaws(definition)
  const receivers = format === 'oas' ? oasReceivers(definition) : classicReceivers(definition)
  const flaws = [...(allowPrivate ? [] : issuers), ...receivers.flatMap((each) => flawsOfReceiver(each, allowPrivate))]
  if (flaws.length > 0) throw definitionFault(flaws)
}

/** A receiver of token notifications, and where a definition names it. */
interface Receiver {
  readonly url: string
  readonly urlAt: TreePath
  readonly secret: string
  readonly secretAt: TreePath
}

function classicReceivers(classic: JsonObject): Receiver[] {
  if (!flagOf(classic, 'use_oauth2')) return []
  const held = objectOf(classic, 'notifications')
  return [
    {
      ...{ url: textOf(held, 'oauth_on_keychange_url'), urlAt: ['notifications', 'oauth_on_keychange_url'] },
      ...{ secret: textOf(held, 'shared_secret'), secretAt: ['notifications', 'shared_secret'] },
    },
  ]
}

function oasReceivers(document: JsonObject): Receiver[] {
  return enabledSchemes(document).map(({ scheme, at }) => {
    const held = objectOf(scheme, 'notifications')
    return {
      ...{ url: textOf(held, 'onKeyChangeUrl'), urlAt: [...at, 'notifications', 'onKeyChangeUrl'] },
      ...{ secret: textOf(held, 'sharedSecret'), secretAt: [...at, 'notifications', 'sharedSecret'] },
    }
  })
}

/** Visible ASCII, spaces within: all receivers read the same (RFC 9110 section 5.5). */
const FIELD_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/

function flawsOfReceiver({ url, urlAt, secret, secretAt }: Receiver, allowPrivate: boolean): Flaw[] {
  return [
    ...(!allowPrivate && isPrivateTarget(url) ? [{ at: urlAt, reason: PRIVATE_TARGET }] : []),
    ...(secret === '' || FIELD_VALUE.test(secret)
      ? []
      : [{ at: secretAt, reason: 'must be visible ASCII, without a space at either end: a header carries it' }]),
  ]
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
  return enabledSchemes(document).flatMap(({ scheme, at }) => {
    const sets = objectsOf(scheme, 'jwksURIs')
    return [
      ...flawsOfSets(textOf(scheme, 'source'), [...at, 'source'], sets, [...at, 'jwksURIs']),
      ...flawsOfProviders(scheme, at),
    ]
  })
}

/** The settings of the schemes of a document that are in use. */
function enabledSchemes(document: JsonObject): { readonly scheme: JsonObject; readonly at: TreePath }[] {
  const authentication = objectOf(objectOf(extensionOf(document), 'server'), 'authentication')
  if (!flagOf(authentication, 'enabled')) return []
  const schemes = objectOf(authentication, 'securitySchemes')
  return Object.keys(schemes)
    .map((name) => ({
      scheme: objectOf(schemes, name),
      at: [EXTENSION, 'server', 'authentication', 'securitySchemes', name],
    }))
    .filter(({ scheme }) => flagOf(scheme, 'enabled'))
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
      ...(isPrivateTarget(introspection.url) ? [{ at: introspection.at, reason: PRIVATE_TARGET }] : []),
    ]
  })
}

function flawsOfSets(source: string, at: TreePath, sets: readonly JsonObject[], listAt: TreePath): Flaw[] {
  const listed = sets.map((entry, index) => ({ url: textOf(entry, 'url'), at: [...listAt, String(index), 'url'] }))
  const single = { url: readKeyAddress(source) ?? '', at }
  return [single, ...listed]
    .filter(({ url }) => isPrivateTarget(url))
    .map((each) => ({ at: each.at, reason: PRIVATE_TARGET }))
}

/**
 * Refuses an upstream at a Unix socket that the settings do not list: sockets of the machine belong to its other programs. Gateways judge
 * the same, by their own settings. @throws Fault `definition_invalid`
 */
export function refuseUnlistedSocket({ format, definition }: ApiDocument, listed: readonly string[]): void {
  const oas = format === 'oas'
  const url = oas
    ? textOf(objectOf(extensionOf(definition), 'upstream'), 'url')
    : textOf(objectOf(definition, 'proxy'), 'target_url')
  const socket = readSocketUrl(url)
  if (socket === undefined || listed.includes(socket.path)) return
  throw definitionFault([{ at: oas ? [EXTENSION, 'upstream', 'url'] : ['proxy', 'target_url'], reason: UNLISTED }])
}
