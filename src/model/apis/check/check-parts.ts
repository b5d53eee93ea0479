import { toFault } from '../../../errors/fault.ts'
import type { Scheme } from '../../authentication/scheme.ts'
import { isObject, type JsonObject } from '../../json/json.ts'
import { type PausedWork, partByPart } from '../../threads/paused-work.ts'
import { apiEventOf } from '../../webhooks/api-events.ts'
import { HANDLER_NAMES } from '../../webhooks/event-handlers.ts'
import { type HookRules, readHook } from '../../webhooks/hook.ts'
import { errorsToClassic, inExtension } from '../convert/convert.ts'
import { groupsOf, isSectionOn, SECTIONS } from '../convert/convert-auth.ts'
import { operationsOf } from '../convert/convert-operations.ts'
import { EXTENSION, flagOf, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { type Flaw, member } from '../definition/tree.ts'
import { methodsOf } from '../read/read-auth.ts'
import { errorOverrideFlaws, hasInlineVersions } from '../read/read-classic.ts'
import { classicModuleFlaws, oasModuleFlaws } from '../read/read-modules.ts'
import { classicAuthFlaws, oasAuthFlaws } from './check-auth.ts'
import { classicOAuthFlaws, oasOAuthFlaws } from './check-oauth.ts'
import { classicOperationFlaws, oasOperationFlaws } from './check-operations.ts'
import { classicUpstreamFlaws, oasUpstreamFlaws } from './check-upstream.ts'
import { declaredScheme, OTHER_SCHEMES, type UnsupportedFeature } from './unsupported.ts'

const UNKNOWN_EVENT = 'is not an event of this gateway'

/** The errors of the event handlers of a classic definition. */
function classicEventFlaws(classic: JsonObject): Flaw[] {
  const events = objectOf(objectOf(classic, 'event_handlers'), 'events')
  return Object.keys(events).flatMap((name) => {
    const at = ['event_handlers', 'events', name]
    const entries = objectsOf(events, name)
    const active = entries.some(isServed)
    if (active && apiEventOf(name) === undefined) return [{ at, reason: UNKNOWN_EVENT }]
    return entries.flatMap((entry, index) => {
      const meta = objectOf(entry, 'handler_meta')
      if (!isServed(entry) || textOf(entry, 'handler_name') !== HANDLER_NAMES.webhook) return []
      const hook = { ...receiver(textOf(meta, 'method'), meta.target_path), header_map: objectOf(meta, 'header_map') }
      return receiverFlaws(hook, {}).map((flaw) => ({
        ...flaw,
        at: [...at, String(index), 'handler_meta', ...flaw.at],
      }))
    })
  })
}

/** Inactive handlers, and handlers of other kinds, are not checked here. */
function isServed(entry: JsonObject): boolean {
  const known: readonly string[] = Object.values(HANDLER_NAMES)
  return known.includes(textOf(entry, 'handler_name')) && !flagOf(objectOf(entry, 'handler_meta'), 'disabled')
}

/** The same for `server.eventHandlers` of an extension. */
function oasEventFlaws(extension: JsonObject): Flaw[] {
  return objectsOf(objectOf(extension, 'server'), 'eventHandlers').flatMap((entry, index) => {
    const type = textOf(entry, 'type')
    if (!flagOf(entry, 'enabled') || !Object.hasOwn(HANDLER_NAMES, type)) return []
    const at = [EXTENSION, 'server', 'eventHandlers', String(index)]
    if (apiEventOf(textOf(entry, 'trigger')) === undefined) return [{ at: [...at, 'trigger'], reason: UNKNOWN_EVENT }]
    if (type !== 'webhook') return []
    const headers = Object.fromEntries(
      objectsOf(entry, 'headers').map((each) => [textOf(each, 'name'), textOf(each, 'value')]),
    )
    const hook = { ...receiver(textOf(entry, 'method'), entry.url), header_map: headers }
    return receiverFlaws(hook, { target_path: 'url', header_map: 'headers' }).map((flaw) => ({
      ...flaw,
      at: [...at, ...flaw.at],
    }))
  })
}

function receiver(method: string, target: JsonObject[string] | undefined): JsonObject {
  return { method: method || 'POST', target_path: target ?? null }
}

/** Its address is judged by its form alone: what it leads to is looked at when something is sent there. `names`: as the caller wrote the members. */
function receiverFlaws(hook: JsonObject, names: NonNullable<HookRules['names']>): Flaw[] {
  try {
    readHook(hook, { allowPrivate: true, names })
    return []
  } catch (error) {
    // Its refusals begin with the member.
    const [, name = '', reason = ''] = /^(\w+): (.*)$/s.exec(toFault(error).message) ?? []
    return [{ at: [name], reason }]
  }
}

/** Contradictions between two places of a classic definition. */
export function* classicFlaws(classic: JsonObject): PausedWork<Flaw[]> {
  const definition = objectOf(classic, 'definition')
  const data = objectOf(classic, 'version_data')
  const inline = hasInlineVersions(classic)
  const flaws: Flaw[] = []
  const chosen = inline ? textOf(data, 'default_version') : ''
  if ((inline || flagOf(definition, 'enabled')) && chosen === '' && needsKey(definition)) {
    flaws.push({ at: ['definition', 'key'], reason: 'must name the header or parameter that holds the version' })
  }
  if (chosen !== '' && member(data.versions, chosen) === undefined) {
    flaws.push({ at: ['version_data', 'default_version'], reason: 'must name one of the versions' })
  }
  if (methodsOf(classic).includes('use_oauth2')) flaws.push(...classicOAuthFlaws(classic))
  const of = [classicAuthFlaws, classicUpstreamFlaws, classicEventFlaws, classicModuleFlaws, errorOverrideFlaws]
  const ofOperations = yield* classicOperationFlaws(classic)
  const others = yield* partByPart(of.map((check) => () => check(classic)))
  return [...flaws, ...ofOperations, ...others.flat()]
}

/** Contradictions between two places of a document: operations, schemes, versions, targets. */
export function* oasFlaws(document: JsonObject, extension: JsonObject): PausedWork<Flaw[]> {
  const ofOperations = operationFlaws(document, extension)
  yield
  const flaws = [...ofOperations, ...(yield* oasOperationFlaws(document, extension))]
  const others = yield* partByPart([
    () => schemeFlaws(document, extension),
    () => oasOAuthFlaws(document, extension),
    () => oasAuthFlaws(document, extension),
    () => oasModuleFlaws(extension, [EXTENSION]),
    () => oasUpstreamFlaws(extension),
    () => oasEventFlaws(extension),
    () => errorsToClassicFlaws(extension),
  ])
  flaws.push(...others.flat())
  const versioning = objectOf(objectOf(extension, 'info'), 'versioning')
  if (flagOf(versioning, 'enabled') && needsKey(versioning)) {
    flaws.push({
      at: [EXTENSION, 'info', 'versioning', 'key'],
      reason: 'must name the header or parameter that holds the version',
    })
  }
  const balancing = objectOf(objectOf(extension, 'upstream'), 'loadBalancing')
  const targets = objectsOf(balancing, 'targets')
  if (flagOf(balancing, 'enabled') && targets.length > 0 && targets.every((target) => target.weight === 0)) {
    flaws.push({ at: [EXTENSION, 'upstream', 'loadBalancing', 'targets'], reason: 'must hold a weight above 0' })
  }
  return flaws
}

/** Schemes that are asked for and not served: of another kind, or a second one of a kind. */
export function unsupportedOasSchemes(document: JsonObject, extension: JsonObject): UnsupportedFeature[] {
  const declared = objectOf(objectOf(document, 'components'), 'securitySchemes')
  const authentication = objectOf(objectOf(extension, 'server'), 'authentication')
  const at = (name: string) => [EXTENSION, 'server', 'authentication', 'securitySchemes', name]
  const unsupported: UnsupportedFeature[] = []
  const known = new Set<Scheme>()
  for (const name of enabledSchemes(authentication)) {
    const declaration = member(declared, name)
    if (declaration === undefined || !isObject(declaration)) continue
    const scheme = declaredScheme(declaration, objectOf(objectOf(authentication, 'securitySchemes'), name))
    if (scheme === undefined) unsupported.push({ at: at(name), feature: OTHER_SCHEMES })
    else if (known.has(scheme)) unsupported.push({ at: at(name), feature: 'several security schemes of one kind' })
    else known.add(scheme)
  }
  return unsupported
}

/** Names of schemes that callers must meet: none when authentication as a whole is off. */
function enabledSchemes(authentication: JsonObject): string[] {
  if (!flagOf(authentication, 'enabled')) return []
  const schemes = objectOf(authentication, 'securitySchemes')
  return Object.keys(schemes).filter((name) => flagOf(schemes[name], 'enabled'))
}

/** Without a key no request names a version: all are of the default one. */
function needsKey(versioning: JsonObject): boolean {
  const isNamed = textOf(versioning, 'location') === 'url' || textOf(versioning, 'key') !== ''
  return !isNamed && textOf(versioning, 'default') === ''
}

function operationFlaws(document: JsonObject, extension: JsonObject): Flaw[] {
  const flaws: Flaw[] = []
  const known = new Set<string>()
  for (const { path, method, id } of operationsOf(document)) {
    if (id !== '' && known.has(id)) {
      flaws.push({ at: ['paths', path, method.toLowerCase(), 'operationId'], reason: `"${id}" is used twice` })
    }
    known.add(id)
  }
  for (const id of Object.keys(objectOf(objectOf(extension, 'middleware'), 'operations'))) {
    if (id !== '' && known.has(id)) continue
    flaws.push({ at: [EXTENSION, 'middleware', 'operations', id], reason: 'is no operationId of the document' })
  }
  return flaws
}

function schemeFlaws(document: JsonObject, extension: JsonObject): Flaw[] {
  const authentication = objectOf(objectOf(extension, 'server'), 'authentication')
  if (!flagOf(authentication, 'enabled')) return []
  const names = enabledSchemes(authentication)
  const at = [EXTENSION, 'server', 'authentication', 'securitySchemes']
  if (names.length === 0 && SECTIONS.some(({ config }) => isSectionOn(extension, config))) return []
  if (names.length === 0) return [{ at, reason: 'must hold a scheme that is enabled, because authentication is' }]
  const declared = objectOf(objectOf(document, 'components'), 'securitySchemes')
  const groups = groupsOf(document, extension)
  const flaws: Flaw[] = []
  for (const name of names) {
    const declaration = member(declared, name)
    if (declaration === undefined || !isObject(declaration)) {
      flaws.push({ at: [...at, name], reason: 'is not declared in components.securitySchemes' })
      continue
    }
    if (!groups.some((group) => group.includes(name))) {
      flaws.push({ at: [...at, name], reason: 'is not asked for in security' })
    }
    if (declaration.type !== 'apiKey') continue
    for (const needed of ['in', 'name']) {
      if (textOf(declaration, needed) === '') {
        flaws.push({ at: ['components', 'securitySchemes', name, needed], reason: 'is missing' })
      }
    }
  }
  return flaws
}

function errorsToClassicFlaws(extension: JsonObject): Flaw[] {
  const classic: JsonObject = {}
  errorsToClassic(extension, classic)
  return errorOverrideFlaws(classic).map(({ at, reason }) => ({ at: [EXTENSION, ...inExtension(at)], reason }))
}
