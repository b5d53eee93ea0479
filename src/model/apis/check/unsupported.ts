import { fault } from '../../../errors/fault.ts'
import { declares, type Scheme } from '../../authentication/scheme.ts'
import { SCHEMES } from '../../authentication/schemes.ts'
import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { asksForSecret } from '../../patterns/variables.ts'
import { HANDLER_NAMES } from '../../webhooks/event-handlers.ts'
import { flagOf, isEmpty, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { member, pathOf, type TreePath, toWords } from '../definition/tree.ts'
import { isReference } from '../definition/values.ts'
import { MODULE_DRIVER, MODULE_LISTS } from '../read/read-modules.ts'
import { isTemplateInput } from '../read/read-rules.ts'
import { unknownMembersOf } from './unknown-members.ts'

/** A place in a definition, `*` for every member or entry, and the values there that ask for the feature. */
export interface Probe {
  readonly path: TreePath
  readonly asks: (value: Json, holder: Json) => boolean
}

/** A feature that is not served, with its places in both formats, and what to do instead. */
export interface Row {
  readonly feature: string
  /** Which of several it is, by the value at the place. */
  readonly kind?: (value: Json) => string
  readonly instead?: string
  readonly classic: readonly Probe[]
  readonly oas: readonly Probe[]
}

/** The requirements of an unsupported security scheme. */
export const OTHER_SCHEMES = 'OpenID Connect or mutual TLS as the method of an API'

/** The scheme that a member of `components.securitySchemes` declares, with its settings; undefined when none that is served. */
export function declaredScheme(declared: JsonObject, settings: Json): Scheme | undefined {
  return SCHEMES.find((scheme) => declares(scheme, declared, settings))
}

/** Anything but nothing: true, a number that is not 0, a text, list or object that holds something. */
export const isFilled = (value: Json) => !isEmpty(value)
const isOn = (value: Json) => value === true
const isFalse = (value: Json | undefined) => value === false
/** A list with entries that are not switched off (classic). */
const hasEntries = (value: Json) => Array.isArray(value) && value.some((entry) => !flagOf(entry, 'disabled'))
/** A list with an entry that is enabled (extension). */
export const someEnabled = (value: Json) => Array.isArray(value) && value.some((entry) => flagOf(entry, 'enabled'))

/** A place where a value asks for the feature: any that holds something, unless `asks` says which. */
export const at = (path: string, asks: Probe['asks'] = isFilled): Probe => ({ path: pathOf(path), asks })
/** A switch that asks for it. */
export const on = (path: string): Probe => at(path, isOn)
/** A method counts unless the API is open to everybody. */
const method = (path: string): Probe => at(path, (value, holder) => value === true && !flagOf(holder, 'use_keyless'))
const listed = (list: string): Probe => at(`version_data.versions.*.extended_paths.${list}`, hasEntries)
const operation = (section: string): Probe => on(`middleware.operations.*.${section}.enabled`)

/** The bounds of what upstreams are spoken to with anyway, by their numbers on the wire. */
const TLS_1_2 = 0x0303
const TLS_1_3 = 0x0304

const SCHEME = 'server.authentication.securitySchemes.*'

/** The oldest form of response edits is a list of processors; without settings they only enable other members. */
const isProcessor = (value: Json) =>
  objectsOf({ value }, 'value').some(
    (each) =>
      !['header_injector', 'response_body_transform'].includes(textOf(each, 'name')) ||
      !Object.values(isObject(each.options ?? null) ? (each.options as JsonObject) : {}).every(isEmpty),
  )

const asksAction = (served: readonly string[]) => (value: Json) =>
  Array.isArray(value) &&
  value.some((entry) => {
    const actions = member(entry, 'method_actions')
    if (flagOf(entry, 'disabled') || actions === undefined || !isObject(actions ?? null)) return false
    return Object.values(actions as JsonObject).some(
      (action) => !['', 'no_action', ...served].includes(textOf(action, 'action')),
    )
  })

/** Paths of the classic form may be regular expressions; ours are words, `{name}` and a last `/*`. */
const isExpression = (value: Json) =>
  typeof value === 'string' && /[\\^|[\]()?]|\.[*+]|\$$|\*(?!$)|[^/]\*|\{[^}]*[:{,]/.test(value)

const hasSecret = (value: Json) => typeof value === 'string' && asksForSecret(value)

/** Templates in other places, or for bodies that are neither JSON nor XML. */
const hasOtherTemplate = (value: Json) =>
  objectsOf({ value }, 'value').some((entry) => {
    const { template_mode: mode, input_type: type } = objectOf(entry, 'template_data')
    return !flagOf(entry, 'disabled') && (mode === 'file' || isOtherFormat(type))
  })
const isOtherTransform = (value: Json) =>
  flagOf(value, 'enabled') && (isOtherFormat(member(value, 'format')) || textOf(value, 'path') !== '')
const isOtherFormat = (value: Json | undefined) => typeof value === 'string' && !isTemplateInput(value)

/** Plugins without a driver are written in what the incumbent takes for granted. */
const hasOtherPlugins = (value: Json) =>
  textOf(value, 'driver') !== MODULE_DRIVER &&
  Object.values(MODULE_LISTS).some(({ classic }) => hasEntries(member(value, classic) ?? null))
const asksOtherPlugins = (value: Json) =>
  textOf(objectOf(value, 'pluginConfig'), 'driver') !== MODULE_DRIVER &&
  Object.values(MODULE_LISTS).some(({ oas }) => someEnabled(member(value, oas) ?? null))
const TO_MODULES = 'write a TypeScript module, with the driver "typescript"'
const AS_HTTP = 'forward to the GraphQL server as to any HTTP service'
const WRITTEN = 'write the value itself, which the store seals; files of `sync` may take it from the environment'
const DRIVERS: Readonly<Record<string, string>> = {
  goplugin: 'Go',
  grpc: 'gRPC',
  javascript: 'JavaScript',
  lua: 'Lua',
  otto: 'JavaScript',
  python: 'Python',
}
const PLUGINS = 'plugins that are no TypeScript modules'
const SERVED_HANDLERS: readonly string[] = ['', HANDLER_NAMES.webhook, HANDLER_NAMES.log]
const asksOtherHandler = (value: Json) =>
  objectsOf({ value }, 'value').some(
    (each) =>
      !SERVED_HANDLERS.includes(textOf(each, 'handler_name')) && !flagOf(objectOf(each, 'handler_meta'), 'disabled'),
  )
const asksOtherType = (value: Json) =>
  objectsOf({ value }, 'value').some(
    (each) => flagOf(each, 'enabled') && !Object.hasOwn(HANDLER_NAMES, textOf(each, 'type')),
  )

const isOtherProtocol = (value: Json) =>
  typeof value === 'string' && !['', 'http', 'https'].includes(value.toLowerCase())
const isOtherScheme = (value: Json) =>
  typeof value === 'string' && value.includes('://') && !/^(?:https?|h2c|wss?):\/\//i.test(value) && !isReference(value)
/** A whole upstream may be another API; one of several targets may not. */
const isNoUpstream = (value: Json) => isOtherScheme(value) && !/^svc:\/\/./i.test(String(value))

/** Where lists name whole paths. */
const EXPRESSIONS: Row = {
  feature: 'regular expressions as paths, where path_matching is "exact" or "openapi"',
  classic: [at('version_data.versions.*.extended_paths.*.*.path', isExpression)],
  oas: [],
}
const takesExpressions = (classic: JsonObject) => !['', 'exact', 'openapi'].includes(textOf(classic, 'path_matching'))

/**
 * Features of definitions that this gateway does not serve yet, each with its places in both formats.
 * Building a feature means deleting its row. Served without a row: everything that `Api` has a member for.
 */
export const UNSUPPORTED: readonly Row[] = [
  {
    feature: 'basic credentials in bodies',
    classic: [on('basic_auth.extract_from_body')],
    oas: [on('server.authentication.securitySchemes.*.extractCredentialsFromBody.enabled')],
  },
  { feature: 'scope checks by claims', classic: [], oas: [on(`${SCHEME}.scopeCheck.enabled`)] },
  { feature: 'token exchange', classic: [], oas: [on(`${SCHEME}.tokenExchange.enabled`)] },
  {
    feature: 'metadata of protected resources',
    classic: [],
    oas: [
      on('server.authentication.protectedResourceMetadata.enabled'),
      on(`${SCHEME}.protectedResourceMetadata.enabled`),
    ],
  },
  {
    feature: 'certificates alone as the method of an API',
    classic: [],
    oas: [on('server.authentication.certificateAuth.enabled')],
  },
  {
    feature: 'checks of further claims of JSON Web Tokens',
    classic: [],
    oas: [
      on('server.authentication.securitySchemes.*.jtiValidation.enabled'),
      at('server.authentication.securitySchemes.*.customClaimValidation'),
    ],
  },
  {
    feature: OTHER_SCHEMES,
    classic: [method('use_openid')],
    oas: [on('server.authentication.oidc.enabled')],
  },
  {
    feature: 'authentication by a plugin',
    instead: 'use another method, or check the credential in a TypeScript module behind an API that is open',
    classic: [method('enable_coprocess_auth'), method('use_go_plugin_auth'), method('custom_plugin_auth_enabled')],
    oas: [on('server.authentication.custom.enabled')],
  },
  {
    feature: 'signatures in addition to the auth token',
    classic: [on('auth.validate_signature'), on('auth_configs.*.validate_signature')],
    oas: [
      on('server.authentication.securitySchemes.*.signatureValidation.enabled'),
      on('server.authentication.securitySchemes.*.signature.enabled'),
    ],
  },
  {
    feature: 'actions of paths other than replies, and replies of blocked paths',
    classic: ['white_list', 'black_list', 'ignored'].map((list) =>
      at(`version_data.versions.*.extended_paths.${list}`, asksAction(list === 'black_list' ? [] : ['reply'])),
    ),
    oas: [],
  },
  { feature: 'body transforms in jq', classic: [listed('transform_jq'), listed('transform_jq_response')], oas: [] },
  {
    feature: 'templates of bodies in files, and of bodies that are neither JSON nor XML',
    classic: [
      at('version_data.versions.*.extended_paths.transform', hasOtherTemplate),
      at('version_data.versions.*.extended_paths.transform_response', hasOtherTemplate),
    ],
    oas: [
      at('middleware.operations.*.transformRequestBody', isOtherTransform),
      at('middleware.operations.*.transformResponseBody', isOtherTransform),
    ],
  },
  {
    feature: 'response processors',
    instead: 'write what header_injector adds and removes as global_response_headers of the versions',
    classic: [at('response_processors', isProcessor)],
    oas: [],
  },
  {
    feature: 'virtual endpoints (JavaScript)',
    instead: TO_MODULES,
    classic: [listed('virtual')],
    oas: [operation('virtualEndpoint')],
  },
  { feature: PLUGINS, kind: () => 'Go', instead: TO_MODULES, classic: [listed('go_plugin')], oas: [] },
  {
    feature: PLUGINS,
    kind: (value) => DRIVERS[textOf(value, 'driver') || textOf(objectOf(value, 'pluginConfig'), 'driver')] ?? '',
    instead: TO_MODULES,
    classic: [
      at('custom_middleware', hasOtherPlugins),
      at('custom_middleware.auth_check.name'),
      at(
        'custom_middleware_bundle',
        (value, holder) => isFilled(value) && !flagOf(holder, 'custom_middleware_bundle_disabled'),
      ),
    ],
    oas: [
      on('middleware.global.pluginConfig.bundle.enabled'),
      at('middleware.global', asksOtherPlugins),
      at('middleware.operations.*.postPlugins', someEnabled),
    ],
  },
  {
    feature: 'secrets of a store in header edits ($secret_env, $secret_vault, ...)',
    classic: [
      at('version_data.versions.*.global_headers.*', hasSecret),
      at('version_data.versions.*.extended_paths.transform_headers.*.add_headers.*', hasSecret),
      at('version_data.versions.*.global_response_headers.*', hasSecret),
      at('version_data.versions.*.extended_paths.transform_response_headers.*.add_headers.*', hasSecret),
    ],
    oas: [
      at('middleware.global.transformRequestHeaders.add.*.value', hasSecret),
      at('middleware.operations.*.transformRequestHeaders.add.*.value', hasSecret),
      at('middleware.global.transformResponseHeaders.add.*.value', hasSecret),
      at('middleware.operations.*.transformResponseHeaders.add.*.value', hasSecret),
    ],
  },
  EXPRESSIONS,
  {
    feature: 'versions outside `definition`',
    classic: [at('version_definition', (value) => isFilled(value) && !isFalse(member(value, 'enabled')))],
    oas: [],
  },
  { feature: 'GraphQL', instead: AS_HTTP, classic: [on('graphql.enabled'), listed('persist_graphql')], oas: [] },
  {
    feature: 'event handlers other than webhooks and logs',
    classic: [at('event_handlers.events.*', asksOtherHandler)],
    oas: [at('server.eventHandlers', asksOtherType)],
  },
  {
    feature: 'protocols other than HTTP',
    classic: [at('protocol', isOtherProtocol)],
    oas: [at('server.protocol', isOtherProtocol)],
  },
  { feature: 'separate ports', classic: [at('listen_port')], oas: [at('server.port')] },
  { feature: 'the PROXY protocol', classic: [on('enable_proxy_protocol')], oas: [] },
  {
    feature: 'upstream schemes other than http, https, h2c, ws and wss',
    classic: [
      at('proxy.target_url', isNoUpstream),
      at('proxy.target_list.*', isOtherScheme),
      at('version_data.versions.*.override_target', isNoUpstream),
    ],
    oas: [at('upstream.url', isNoUpstream), at('upstream.loadBalancing.targets.*.url', isOtherScheme)],
  },
  {
    feature: 'health checks other than by HTTP',
    classic: [
      at('uptime_tests.test_list', (value, holder) => isFilled(value) && !flagOf(holder, 'disabled')),
      at('uptime_tests.check_list.*.commands'),
      at('uptime_tests.check_list.*.protocol', isOtherProtocol),
      on('uptime_tests.check_list.*.enable_proxy_protocol'),
      on('uptime_tests.config.service_discovery.use_discovery_service'),
    ],
    oas: [
      at('upstream.uptimeTests.tests.*.commands'),
      on('upstream.uptimeTests.tests.*.enableProxyProtocol'),
      on('upstream.uptimeTests.serviceDiscovery.enabled'),
    ],
  },
  {
    feature: 'service discovery other than by DNS',
    classic: [
      at(
        'proxy.service_discovery.use_discovery_service',
        (value, holder) => value === true && textOf(holder, 'srv_name') === '',
      ),
    ],
    oas: [
      at('upstream.serviceDiscovery.enabled', (value, holder) => value === true && textOf(holder, 'srvName') === ''),
    ],
  },
  {
    feature: 'a proxy on the way to the upstream',
    classic: [at('proxy.transport.proxy_url')],
    oas: [on('upstream.proxy.enabled')],
  },
  {
    feature: 'TLS settings towards the upstream',
    classic: [
      at('proxy.transport.ssl_ciphers'),
      at('proxy.transport.ssl_min_version', (value) => isFilled(value) && value !== TLS_1_2),
      at('proxy.transport.ssl_max_version', (value) => isFilled(value) && value !== TLS_1_3),
      on('proxy.transport.ssl_force_common_name_check'),
    ],
    oas: [
      at('upstream.tlsTransport.ciphers'),
      at('upstream.tlsTransport.minVersion', (value) => isFilled(value) && value !== '1.2'),
      at('upstream.tlsTransport.maxVersion', (value) => isFilled(value) && value !== '1.3'),
      on('upstream.tlsTransport.forceCommonNameCheck'),
    ],
  },
  {
    feature: 'authentication towards the upstream',
    classic: [on('upstream_auth.enabled'), on('request_signing.is_enabled')],
    oas: [on('upstream.authentication.enabled')],
  },
]

/** A thing that is asked for and not served: where, what it is called, and what to do instead. */
export interface UnsupportedFeature {
  readonly at: TreePath
  readonly feature: string
  readonly instead?: string
}

/** Members whose texts are not ours to read. */
const OPAQUE = new Set(['config_data', 'oas', 'classic'])

/** Every unsupported thing that a classic definition or an extension turns on. Switched off, it is no wish. */
export function unsupportedFeaturesOf(
  definition: JsonObject,
  format: 'classic' | 'oas',
  root: TreePath = [],
): UnsupportedFeature[] {
  const rows =
    format === 'classic' && takesExpressions(definition)
      ? UNSUPPORTED.filter((row) => row !== EXPRESSIONS)
      : UNSUPPORTED
  const features = askedOf(rows, definition, format, root)
  const named = features.map((feature) => toWords(feature.at))
  for (const unknown of unknownMembersOf(definition, format)) {
    const words = toWords([...root, ...unknown])
    if (!named.some((each) => each === words || each.startsWith(`${words}.`)))
      features.push({ at: [...root, ...unknown], feature: 'a member that nothing here knows' })
  }
  findReferences(definition, root, features)
  return features
}

/** The features of some rows that a definition turns on. */
export function askedOf(
  rows: readonly Row[],
  definition: JsonObject,
  format: 'classic' | 'oas',
  root: TreePath,
): UnsupportedFeature[] {
  const features: UnsupportedFeature[] = []
  for (const { feature, kind, instead, ...places } of rows) {
    for (const probe of places[format]) {
      probeAt(definition, definition, probe, 0, root, (path, value) => {
        const which = kind?.(value) ?? ''
        const named = which === '' ? feature : `${feature} (${which})`
        features.push({ at: path, feature: named, ...(instead !== undefined && { instead }) })
      })
    }
  }
  return features
}

/** @throws Fault `definition_unsupported` naming the first 20 wishes; returns when there are none */
export function refuseUnsupported(features: readonly UnsupportedFeature[]): void {
  if (features.length === 0) return
  const seen = new Set<string>()
  for (const { at: path, feature, instead } of features)
    seen.add(
      `${toWords(path)}: ${feature} (not served by this gateway${instead === undefined ? ' yet' : `: ${instead}`})`,
    )
  throw fault('definition_unsupported', [...seen].slice(0, 20).join('; '))
}

function probeAt(
  value: Json | undefined,
  holder: Json,
  probe: Probe,
  depth: number,
  path: TreePath,
  found: (path: TreePath, value: Json) => void,
): void {
  if (value === undefined || value === null) return
  const name = probe.path[depth]
  if (name === undefined) {
    if (probe.asks(value, holder)) found(path, value)
    return
  }
  // A version whose extended paths are switched off asks for none of them.
  if (name === 'extended_paths' && member(value, 'use_extended_paths') !== true) return
  if (name !== '*') {
    probeAt(member(value, name), value, probe, depth + 1, [...path, name], found)
    return
  }
  if (typeof value !== 'object') return
  for (const each of Object.keys(value)) probeAt(member(value, each), value, probe, depth + 1, [...path, each], found)
}

function findReferences(value: Json, path: TreePath, features: UnsupportedFeature[]): void {
  if (typeof value === 'string') {
    if (isReference(value))
      features.push({
        at: path,
        feature: `values kept elsewhere (${value.slice(0, value.indexOf('://') + 3)})`,
        instead: WRITTEN,
      })
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const name of Object.keys(value)) {
    if (!OPAQUE.has(name)) findReferences(member(value, name)!, [...path, name], features)
  }
}
