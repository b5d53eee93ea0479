import type { Definition } from '../../../api/apis/apis.ts'
import type { FormValues } from '../../../parts/forms/form-values.ts'
import { EXTENSION } from '../editor/tree.ts'
import { DURATION, namesWith, OPPOSITE, OPTIONAL, POSITIVE, REPEATED, WEIGHTED } from './codec.ts'
import { CACHE, CERTIFICATES, EVENT_SETTINGS, MODULE_SETTINGS, UPSTREAM_RESILIENCE } from './resilience.ts'
import { placesIn, type Setting, type SettingEntry, settingsIn, valuesIn, withSettings } from './setting.ts'

/** A part of the form that folds. */
export interface Section {
  readonly name:
    | 'general'
    | 'upstream'
    | 'resilience'
    | 'certificates'
    | 'limits'
    | 'cache'
    | 'access'
    | 'cors'
    | 'events'
    | 'modules'
    | 'traffic'
  readonly entries: readonly SettingEntry[]
}

const cors = (name: string, kind: Setting['kind'], oas: string, classic: string): Setting => ({
  ...{ name, kind, oas: `middleware.global.cors.${oas}`, classic: `CORS.${classic}` },
  ...(name !== 'cors' && { when: 'cors' }),
})

const mcpTools = (name: string, member: string): Setting => {
  const as = namesWith(member)
  return {
    ...{ name, kind: 'list', isWhole: true },
    ...{ oas: 'middleware.mcpTools', classic: 'mcp_tools', oasAs: as, classicAs: as },
  }
}

export const SECTIONS: readonly Section[] = [
  {
    name: 'general',
    entries: [
      { name: 'name', kind: 'text', oas: 'info.name', classic: 'name', required: true },
      { name: 'active', kind: 'switch', oas: 'info.state.active', classic: 'active' },
      { name: 'internal', kind: 'switch', oas: 'info.state.internal', classic: 'internal' },
      {
        ...{ name: 'listenPath', kind: 'text', required: true },
        ...{ oas: 'server.listenPath.value', classic: 'proxy.listen_path' },
      },
      { name: 'strip', kind: 'switch', oas: 'server.listenPath.strip', classic: 'proxy.strip_listen_path' },
      {
        ...{ name: 'domain', kind: 'switch', oas: 'server.customDomain.enabled' },
        ...{ classic: 'domain_disabled', classicAs: OPPOSITE },
      },
      { name: 'domainName', kind: 'text', oas: 'server.customDomain.name', classic: 'domain', when: 'domain' },
      {
        ...{ name: 'onTaggedNodes', kind: 'switch', oas: 'server.gatewayTags.enabled' },
        ...{ classic: 'tags_disabled', classicAs: OPPOSITE },
      },
      { name: 'tags', kind: 'list', oas: 'server.gatewayTags.tags', classic: 'tags', when: 'onTaggedNodes' },
    ],
  },
  {
    name: 'upstream',
    entries: [
      { name: 'upstream', kind: 'url', oas: 'upstream.url', classic: 'proxy.target_url', required: true },
      {
        ...{ name: 'keepHost', kind: 'switch' },
        ...{ oas: 'upstream.preserveHostHeader.enabled', classic: 'proxy.preserve_host_header' },
      },
      {
        ...{ name: 'balance', kind: 'switch' },
        ...{ oas: 'upstream.loadBalancing.enabled', classic: 'proxy.enable_load_balancing' },
      },
      {
        ...{ name: 'targets', kind: 'list', oas: 'upstream.loadBalancing.targets', oasAs: WEIGHTED },
        ...{ classic: 'proxy.target_list', classicAs: REPEATED, when: 'balance' },
      },
      {
        ...{ name: 'insecure', kind: 'switch', oas: 'upstream.tlsTransport.insecureSkipVerify' },
        classic: 'proxy.transport.ssl_insecure_skip_verify',
      },
      {
        ...{ name: 'discovery', kind: 'switch', oas: 'upstream.serviceDiscovery.enabled' },
        classic: 'proxy.service_discovery.use_discovery_service',
      },
      {
        ...{ name: 'srvName', kind: 'text', oas: 'upstream.serviceDiscovery.srvName', oasAs: OPTIONAL },
        ...{ classic: 'proxy.service_discovery.srv_name', classicAs: OPTIONAL, when: 'discovery' },
        placeholder: '_http._tcp.orders.internal',
      },
      {
        ...{ name: 'srvRefresh', kind: 'number', oas: 'upstream.serviceDiscovery.refreshInterval', oasAs: DURATION },
        ...{ classic: 'proxy.service_discovery.refresh_interval', classicAs: POSITIVE, when: 'discovery' },
        ...{ unit: 's', placeholder: '300 s' },
      },
    ],
  },
  { name: 'resilience', entries: UPSTREAM_RESILIENCE },
  { name: 'certificates', entries: CERTIFICATES },
  {
    name: 'limits',
    entries: [
      {
        ...{ name: 'limited', kind: 'switch', oas: 'upstream.rateLimit.enabled' },
        ...{ classic: 'global_rate_limit.disabled', classicAs: OPPOSITE },
      },
      {
        name: 'rate',
        kind: 'number',
        oas: 'upstream.rateLimit.rate',
        classic: 'global_rate_limit.rate',
        when: 'limited',
      },
      {
        ...{ name: 'per', kind: 'number', oas: 'upstream.rateLimit.per', oasAs: DURATION, when: 'limited' },
        ...{ classic: 'global_rate_limit.per', unit: 's' },
      },
      { name: 'skipRate', kind: 'switch', oas: 'middleware.global.skipRateLimit', classic: 'disable_rate_limit' },
      { name: 'skipQuota', kind: 'switch', oas: 'middleware.global.skipQuota', classic: 'disable_quota' },
      { name: 'sized', kind: 'switch', oas: 'middleware.global.requestSizeLimit.enabled' },
      { name: 'size', kind: 'number', oas: 'middleware.global.requestSizeLimit.value', when: 'sized', unit: 'bytes' },
    ],
  },
  { name: 'cache', entries: CACHE },
  {
    name: 'access',
    entries: [
      {
        ...{ name: 'ip', kind: 'switch', oas: 'server.ipAccessControl.enabled' },
        ...{ classic: 'ip_access_control_disabled', classicAs: OPPOSITE },
      },
      {
        ...{ name: 'ipAllow', kind: 'list', oas: 'server.ipAccessControl.allow', when: 'ip' },
        ...{ classic: 'allowed_ips', classicSwitch: 'enable_ip_whitelisting' },
      },
      {
        ...{ name: 'ipBlock', kind: 'list', oas: 'server.ipAccessControl.block', when: 'ip' },
        ...{ classic: 'blacklisted_ips', classicSwitch: 'enable_ip_blacklisting' },
      },
      mcpTools('mcpAllow', 'allow'),
      mcpTools('mcpBlock', 'block'),
    ],
  },
  {
    name: 'cors',
    entries: [
      cors('cors', 'switch', 'enabled', 'enable'),
      cors('corsOrigins', 'list', 'allowedOrigins', 'allowed_origins'),
      cors('corsMethods', 'list', 'allowedMethods', 'allowed_methods'),
      cors('corsHeaders', 'list', 'allowedHeaders', 'allowed_headers'),
      cors('corsExposed', 'list', 'exposedHeaders', 'exposed_headers'),
      cors('corsCredentials', 'switch', 'allowCredentials', 'allow_credentials'),
      { ...cors('corsAge', 'number', 'maxAge', 'max_age'), unit: 's' },
      cors('corsPass', 'switch', 'optionsPassthrough', 'options_passthrough'),
    ],
  },
  { name: 'events', entries: EVENT_SETTINGS },
  { name: 'modules', entries: MODULE_SETTINGS },
  {
    name: 'traffic',
    entries: [
      {
        ...{ name: 'record', kind: 'switch', oas: 'middleware.global.trafficLogs.enabled' },
        ...{ classic: 'do_not_track', classicAs: OPPOSITE },
      },
      {
        ...{ name: 'detailed', kind: 'switch', when: 'record' },
        ...{ oas: 'server.detailedActivityLogs.enabled', classic: 'enable_detailed_recording' },
      },
      {
        ...{ name: 'tagHeaders', kind: 'list', when: 'record' },
        ...{ oas: 'middleware.global.trafficLogs.tagHeaders', classic: 'tag_headers' },
      },
    ],
  },
]

const rootOf = (isOas: boolean): readonly string[] => (isOas ? [EXTENSION] : [])
const all = (isOas: boolean): readonly Setting[] => SECTIONS.flatMap(({ entries }) => settingsIn(entries, isOas))

/** The form values of all sections of a definition. */
export function valuesOf(definition: Definition, isOas: boolean): FormValues {
  return valuesIn(definition, all(isOas), isOas, rootOf(isOas))
}

/** The definition with what differs in the form; nothing else in it is touched. */
export function withValues(definition: Definition, isOas: boolean, values: FormValues): Definition {
  return withSettings(definition, all(isOas), isOas, { root: rootOf(isOas), values })
}

/** Each field of a section with the place that the dashboard names where something is wrong with it. */
export function placesOf({ entries }: Section, isOas: boolean): readonly (readonly [string, readonly string[]])[] {
  return placesIn(settingsIn(entries, isOas), isOas, rootOf(isOas))
}
