import { isObject, type Json, type JsonObject } from '../../json/json.ts'
import { extensionOf, flagOf, isEmpty, numberOf, objectOf, objectsOf, textOf } from '../definition/members.ts'
import { member, type TreePath } from '../definition/tree.ts'
import { durationMs } from '../definition/values.ts'
import { asks } from './unknown-members.ts'
import { askedOf, at, isFilled, on, type Row, someEnabled, type UnsupportedFeature } from './unsupported.ts'

const GLOBAL = 'middleware.global'
const SINGULAR = ['prePlugin', 'postAuthenticationPlugin', 'postPlugin', 'responsePlugin']
const CLASSIC_LISTS = ['pre', 'post_key_auth', 'post', 'response']

/** A plugin of the classic form, unless it is off or says nothing. */
const isPlugin = (value: Json) =>
  isObject(value) &&
  !flagOf(value, 'disabled') &&
  ['name', 'path', 'code'].some((name) => isFilled(value[name] ?? null))
const ofActive = (value: Json, holder: Json) => isFilled(value) && !flagOf(holder, 'disabled')
const ofEnabled = (value: Json, holder: Json) => isFilled(value) && flagOf(holder, 'enabled')

const isPeriod = (value: Json, holder: Json) =>
  flagOf(holder, 'enabled') && (typeof value === 'string' ? durationMs(value) !== 0 && value !== '' : isFilled(value))
const isRetention = (value: Json, holder: Json) => numberOf({ value }, 'value') > 0 && !flagOf(holder, 'do_not_track')

/** Rules of an MCP tool that are served, by its exact name, with their members. `name` is a note. */
const TOOL_RULES: ReadonlyMap<string, readonly string[]> = new Map([
  ['allow', ['enabled', 'name']],
  ['block', ['enabled', 'name']],
  ['rateLimit', ['enabled', 'rate', 'per']],
  ['trackEndpoint', ['enabled']],
])

/** Other rules of an MCP tool: each could limit what the tool may be called for. */
function otherToolRules(tool: Json): string[] {
  if (!isObject(tool)) return []
  return Object.entries(tool).flatMap(([rule, value]) => {
    const served = TOOL_RULES.get(rule)
    if (served === undefined) return asks(value) ? [rule] : []
    if (!isObject(value) || !flagOf(value, 'enabled')) return []
    return Object.entries(value).flatMap(([name, held]) =>
      served.includes(name) || !asks(held) ? [] : [`${rule}.${name}`],
    )
  })
}
const hasOtherRules = (tool: Json) => otherToolRules(tool).length > 0

/**
 * Members that are refused when a definition is saved, and were kept in silence by earlier versions of this program: what is stored with
 * them is served, with a warning. Each could be meant as a protection.
 */
export const REFUSED_MEMBERS: readonly Row[] = [
  {
    feature: 'plugins for analytics',
    instead: 'leave them out: records hold what `tag_headers` and detailed recording say',
    classic: [on('analytics_plugin.enable'), at('custom_middleware.traffic_logs', isPlugin)],
    oas: [at(`${GLOBAL}.trafficLogs.plugins`, someEnabled)],
  },
  {
    feature: 'plugins in members that this gateway does not read',
    instead: 'write a TypeScript module, with the driver "typescript", into the lists of plugins',
    classic: [
      at('custom_middleware.auth_check', isPlugin),
      ...CLASSIC_LISTS.map((list) => at(`custom_middleware.${list}.*.code`, ofActive)),
    ],
    oas: [
      ...SINGULAR.map((section) => at(`${GLOBAL}.${section}.plugins`, someEnabled)),
      ...SINGULAR.flatMap((section) =>
        ['code', 'pluginHash', 'pluginId'].map((name) => at(`${GLOBAL}.${section}s.*.${name}`, ofEnabled)),
      ),
    ],
  },
  {
    feature: 'resources and prompts of MCP, and JSON-RPC',
    classic: [at('application_protocol'), at('json_rpc_version')],
    oas: [at('middleware.mcpResources'), at('middleware.mcpPrompts')],
  },
  {
    feature: 'rules of an MCP tool other than allow, block, rateLimit and trackEndpoint by its exact name',
    kind: (tool) => otherToolRules(tool).join(', '),
    classic: [at('mcp_tools.*', hasOtherRules)],
    oas: [at('middleware.mcpTools.*', hasOtherRules)],
  },
  { feature: 'scope checks by claims', classic: [], oas: [on('middleware.operations.*.scopeCheck.enabled')] },
  { feature: 'token exchange', classic: [], oas: [on('middleware.operations.*.exchange.enabled')] },
  {
    feature: 'a retention period of one API',
    instead: 'set `analytics.retention_days` and `analytics.records_days`, or switch `trafficLogs` off',
    classic: [at('expire_analytics_after', isRetention)],
    oas: [at(`${GLOBAL}.trafficLogs.customRetentionPeriod`, isPeriod)],
  },
  {
    feature: 'authentication towards the upstream',
    classic: [on('upstream_auth.basic_auth.enabled'), on('upstream_auth.oauth.enabled')],
    oas: ['basicAuth', 'oauth', 'requestSigning'].map((each) => on(`upstream.authentication.${each}.enabled`)),
  },
]

/** Members of a definition that a save refuses, in its own paths. */
export function refusedMembersOf(
  definition: JsonObject,
  format: 'classic' | 'oas',
  root: TreePath = [],
): UnsupportedFeature[] {
  return askedOf(REFUSED_MEMBERS, definition, format, root)
}

/** Extensions beside ours in an OpenAPI document that make another kind of API of it. */
export function refusedExtensionsOf(document: JsonObject): UnsupportedFeature[] {
  return Object.keys(document).flatMap((name): UnsupportedFeature[] => {
    if (isEmpty(member(document, name))) return []
    if (/^x-[a-z0-9-]+-streaming$/i.test(name)) return [{ at: [name], feature: 'streams' }]
    return /^x-[a-z0-9-]+-mcp-server$/i.test(name) ? [{ at: [name], feature: 'MCP and JSON-RPC' }] : []
  })
}

/** Pairs by host that name none, which would count for none: paths below the extension. */
export function hostlessPairs(document: JsonObject): TreePath[] {
  const upstream = objectOf(extensionOf(document), 'upstream')
  const lists: readonly (readonly [string, string])[] = [
    ['mutualTLS', 'domainToCertificates'],
    ['mutualTLS', 'domainToCertificateMapping'],
    ['certificatePinning', 'domainToPublicKeysMapping'],
  ]
  return lists.flatMap(([section, list]) => {
    const held = objectOf(upstream, section)
    if (!flagOf(held, 'enabled')) return []
    return objectsOf(held, list).flatMap((entry, index) =>
      textOf(entry, 'domain') === '' ? [['upstream', section, list, String(index), 'domain']] : [],
    )
  })
}
