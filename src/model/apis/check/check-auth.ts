import { EXTERNAL_SCHEME } from '../../authentication/external-scheme.ts'
import { isMethodOn } from '../../authentication/scheme.ts'
import { SCHEMES } from '../../authentication/schemes.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { servedClassic } from '../convert/convert.ts'
import {
  authToClassic,
  groupsOf,
  isSchemeOn,
  isSectionOn,
  namesOfGroups,
  offersChoice,
} from '../convert/convert-auth.ts'
import { operationsOf } from '../convert/convert-operations.ts'
import type { Pair } from '../convert/convert-pairs.ts'
import { EXTENSION, flagOf, isEmpty, objectOf, textOf, textsOf } from '../definition/members.ts'
import { type Flaw, member, type TreePath } from '../definition/tree.ts'
import { AUTH_SWITCHES, methodOfIdentity, methodsOf, schemeNames } from '../read/read-auth.ts'

/** Contradictions and gaps in the methods of a classic definition. */
export function classicAuthFlaws(classic: JsonObject): Flaw[] {
  const methods = methodsOf(classic)
  return [
    ...SCHEMES.flatMap(({ on, flaws }) => (methods.includes(on) ? (flaws?.(classic) ?? []) : [])),
    ...certificateFlaws(classic, methods),
    ...(methods.length > 1 ? identityFlaws(classic, methods) : []),
    ...(textOf(classic, 'security_processing_mode') === 'compliant' ? groupFlaws(classic) : []),
  ]
}

/** Weaker choices of the methods of a classic definition, to be reported to its author. */
export function classicAuthWarnings(classic: JsonObject): Flaw[] {
  const methods = methodsOf(classic)
  return SCHEMES.filter(({ on }) => methods.includes(on)).flatMap((scheme) => [
    ...(scheme.warnings?.(classic) ?? []),
    ...placeFlaws(classic, scheme),
  ])
}

/** A method that reads its credential nowhere: it refuses every request. */
function placeFlaws(classic: JsonObject, { config, takesCertificates }: (typeof SCHEMES)[number]): Flaw[] {
  const own = member(objectOf(classic, 'auth_configs'), config)
  const isOwn = own !== undefined && own !== null && isObject(own)
  const read = isOwn ? own : objectOf(classic, 'auth')
  const places = ['use_param', 'use_cookie', ...(takesCertificates ? ['use_certificate'] : [])]
  if (!flagOf(read, 'disable_header') || places.some((name) => flagOf(read, name))) return []
  const at = isOwn ? ['auth_configs', config, DISABLE_HEADER] : ['auth', DISABLE_HEADER]
  return [{ at, reason: 'leaves no place for the credential: every request is refused' }]
}

const DISABLE_HEADER = 'disable_header'

/** The same of an OpenAPI document, named by its own paths. */
export function oasAuthWarnings(document: JsonObject): Flaw[] {
  const extension = objectOf(document, EXTENSION)
  if (!flagOf(objectOf(objectOf(extension, 'server'), 'authentication'), 'enabled')) return []
  // Every load asks, and most documents have keys or tokens of our own.
  if (!hasWarnings(document, extension)) return []
  const classic = readingOf(document, extension)
  const warnings = classicAuthWarnings(classic).map(({ at, reason }) => ({ at: oasPath(at, classic), reason }))
  return isMethodOn(classic, EXTERNAL_SCHEME)
    ? [...warnings, ...uncheckedScopes(document, schemeNameOf(classic, EXTERNAL_SCHEME.config))]
    : warnings
}

/** Scopes that are asked of tokens of another issuer, which are not looked at. */
function uncheckedScopes(document: JsonObject, scheme: string): Flaw[] {
  const lists: [TreePath, Json | undefined][] = [[['security'], document.security]]
  for (const { path, method, object } of operationsOf(document))
    lists.push([['paths', path, method.toLowerCase(), 'security'], object.security])
  return lists.flatMap(([at, security]) =>
    (Array.isArray(security) ? security : []).flatMap((group, index) =>
      isEmpty(member(group, scheme))
        ? []
        : [{ at: [...at, String(index), scheme], reason: 'has no effect: scopes of another issuer are not checked' }],
    ),
  )
}

function hasWarnings(document: JsonObject, extension: JsonObject): boolean {
  const declared = Object.values(objectOf(objectOf(document, 'components'), 'securitySchemes')).filter(
    (each) => each !== null && isObject(each),
  )
  const held = Object.values(objectOf(objectOf(objectOf(extension, 'server'), 'authentication'), 'securitySchemes'))
  if (
    held.some((each) => isObject(each) && isObject(each.header ?? null) && !flagOf(objectOf(each, 'header'), 'enabled'))
  )
    return true
  return SCHEMES.some(({ warnings, declaration, config }) => {
    if (warnings === undefined) return false
    return declaration === undefined
      ? isSectionOn(extension, config)
      : declared.some((each) => declaration.matches(each))
  })
}

/** Only a key can be a certificate: the other methods have their own proofs. */
function certificateFlaws(classic: JsonObject, methods: readonly string[]): Flaw[] {
  const configs = objectOf(classic, 'auth_configs')
  const taking = SCHEMES.filter(({ takesCertificates }) => takesCertificates).map(({ on }) => on)
  const at = AUTH_SWITCHES.filter(
    ({ on, config }) => !taking.includes(on) && methods.includes(on) && Object.hasOwn(configs, config),
  )
    .filter(({ config }) => flagOf(objectOf(configs, config), 'use_certificate'))
    .map(({ config }) => ['auth_configs', config, 'use_certificate'])
  if (flagOf(objectOf(classic, 'auth'), 'use_certificate') && !taking.some((on) => methods.includes(on)))
    at.push(['auth', 'use_certificate'])
  return at.map((path) => ({ at: path, reason: 'must be off: a client certificate can replace only a key' }))
}

function identityFlaws(classic: JsonObject, methods: readonly string[]): Flaw[] {
  const identity = textOf(classic, 'base_identity_provided_by')
  if (identity === '' || methods.includes(methodOfIdentity(identity) ?? '')) return []
  return [{ at: ['base_identity_provided_by'], reason: 'must name one of the methods that are on' }]
}

function groupFlaws(classic: JsonObject): Flaw[] {
  const names = schemeNames(classic)
  const listed = member(classic, 'security_requirements')
  if (names.size < 2) return oneMethodFlaws(listed, names)
  if (!Array.isArray(listed) || listed.length === 0)
    return [{ at: ['security_requirements'], reason: 'must hold the groups of methods that a caller may choose from' }]
  const named = new Set(listed.flatMap((group) => textsOf({ group }, 'group')))
  if ([...names.keys()].some((name) => !named.has(name)))
    return [{ at: ['security_requirements'], reason: 'must name every method that is on' }]
  return listed.flatMap((group, index) => {
    const at = ['security_requirements', String(index)]
    const words = textsOf({ group }, 'group')
    if (words.length === 0) return [{ at, reason: OPEN_GROUP }]
    return words.flatMap((word, place) =>
      names.has(word) ? [] : [{ at: [...at, String(place)], reason: 'names no method that is on' }],
    )
  })
}

/** Groups that were left from when there were several methods count where they name the one that is on. */
function oneMethodFlaws(listed: Json | undefined, names: ReadonlyMap<string, string>): Flaw[] {
  const groups = (Array.isArray(listed) ? listed : []).map((group) => textsOf({ group }, 'group'))
  const isOn = (name: string) => names.has(name)
  if (!groups.flat().some(isOn)) return []
  return unmetAt(['security_requirements'], groups, [[...names.keys()]], isOn)
}

const OPEN_GROUP = 'must not be empty: everybody would be let in'

/** The same of an OpenAPI document, named by its own paths. */
export function oasAuthFlaws(document: JsonObject, extension: JsonObject): Flaw[] {
  const authentication = objectOf(objectOf(extension, 'server'), 'authentication')
  if (!flagOf(authentication, 'enabled')) return []
  const classic = readingOf(document, extension)
  const flaws = classicAuthFlaws(classic).map(({ at, reason }) => ({ at: oasPath(at, classic), reason }))
  return [...flaws, ...choiceFlaws(document, extension, methodsOf(classic).length), ...unmetFlaws(document, extension)]
}

/**
 * Requirements that a request could pass without meeting them, because a scheme that they name is not enabled, or is one of several that
 * callers choose from. Of an operation in the mode without choice, only groups that mix schemes which are enabled with others: the
 * enabled schemes replace all others there.
 */
function unmetFlaws(document: JsonObject, extension: JsonObject): Flaw[] {
  const isOn = (name: string) => isSchemeOn(extension, name)
  const choice = offersChoice(extension)
  const groups = groupsOf(document, extension)
  const enabled = [...new Set(groups.flat())].filter(isOn)
  // Schemes that are enabled and not asked for are reported by `schemeFlaws`.
  if (enabled.length === 0) return []
  const served = choice ? groups.filter((group) => group.length > 0 && group.every(isOn)) : []
  const accepted = served.length > 0 ? served : [enabled]
  const flaws = unmetAt(['security'], groups, accepted, isOn)
  for (const { path, method, object } of operationsOf(document)) {
    const own = namesOfGroups(member(object, 'security'))
    const mixed = own.some((group) => group.some(isOn) && !group.every(isOn))
    if (choice || mixed) flaws.push(...unmetAt(['paths', path, method.toLowerCase(), 'security'], own, accepted, isOn))
  }
  return flaws
}

function unmetAt(
  at: TreePath,
  groups: readonly (readonly string[])[],
  accepted: readonly (readonly string[])[],
  isOn: (name: string) => boolean,
): Flaw[] {
  if (groups.length === 0) return []
  const short = accepted.find((schemes) => !groups.some((group) => group.every((name) => schemes.includes(name))))
  if (short === undefined) return []
  const index = Math.max(
    0,
    groups.findIndex((group) => !group.every(isOn)),
  )
  const missing = groups[index]!.find((name) => !isOn(name)) ?? groups[index]!.find((name) => !short.includes(name))!
  const reason = isOn(missing)
    ? `must let in what the API lets in: ${short.join(' with ')} alone is enough there`
    : 'names a scheme that is not enabled: the request would be let in without it'
  return [{ at: [...at, String(index), missing], reason }]
}

/** The authentication of a document in classic terms; with the parts that it carries from a conversion. */
function readingOf(document: JsonObject, extension: JsonObject): JsonObject {
  if (!isEmpty(objectOf(extension, 'classic').kept)) return servedClassic(document)
  const authentication = objectOf(objectOf(extension, 'server'), 'authentication')
  const classic: JsonObject = {}
  authToClassic(document, extension, classic)
  const { baseIdentityProvider: identity, securityProcessingMode: mode } = authentication
  if (identity !== undefined) classic.base_identity_provided_by = identity
  if (mode !== undefined) classic.security_processing_mode = mode
  return classic
}

/** Groups of which one is enough must be asked for as such: taken for "all of them", they would shut out whom they should let in. */
function choiceFlaws(document: JsonObject, extension: JsonObject, methods: number): Flaw[] {
  if (offersChoice(extension)) {
    return groupsOf(document, extension).flatMap((group, index) =>
      group.length > 0 ? [] : [{ at: ['security', String(index)], reason: OPEN_GROUP }],
    )
  }
  const authentication = objectOf(objectOf(extension, 'server'), 'authentication')
  const schemes = objectOf(authentication, 'securitySchemes')
  const on = Object.keys(schemes).filter((name) => flagOf(schemes[name], 'enabled'))
  const [first = []] = groupsOf(document, extension)
  if (methods < 2 || on.every((name) => first.includes(name))) return []
  return [
    {
      at: [EXTENSION, 'server', 'authentication', 'securityProcessingMode'],
      reason: 'must be "compliant", because security lets callers choose between schemes',
    },
  ]
}

const AUTHENTICATION = [EXTENSION, 'server', 'authentication']

/** Where an OpenAPI document says what a classic definition says at a path. */
function oasPath(at: TreePath, classic: JsonObject): TreePath {
  if (at[0] === 'base_identity_provided_by') return [...AUTHENTICATION, 'baseIdentityProvider']
  if (at[0] === 'security_requirements') return ['security', ...at.slice(1)]
  if (at[0] === 'auth_configs')
    return [
      ...[...AUTHENTICATION, 'securitySchemes', schemeNameOf(classic, at[1]!)],
      ...(at[2] === DISABLE_HEADER ? ['header', 'enabled'] : ['enableClientCertificate']),
    ]
  for (const { config, pairs, declaration } of SCHEMES) {
    const twin = twinOf(at, pairs)
    if (twin === undefined) continue
    const scheme = declaration === undefined ? [config] : ['securitySchemes', schemeNameOf(classic, config)]
    return [...AUTHENTICATION, ...scheme, ...twin]
  }
  return at
}

function twinOf(at: TreePath, pairs: readonly Pair[]): TreePath | undefined {
  const pair = pairs.find(({ classic }) => classic.every((name, index) => at[index] === name))
  if (pair === undefined) return undefined
  const below = at.slice(pair.classic.length)
  return [...pair.oas, ...(pair.as?.below?.(below) ?? below)]
}

/** The name of the security scheme of a method. */
function schemeNameOf(classic: JsonObject, config: string): string {
  return textOf(objectOf(objectOf(classic, 'auth_configs'), config), 'name') || config
}
