import type { Definition } from '../../api/apis.ts'
import type { Field, FormValue, FormValues } from '../../parts/record-form.tsx'
import { say, type TextName } from '../../texts/say.ts'
import { type Codec, DURATION, LIST, NUMBER, OPPOSITE, REPEATED, SWITCH, TEXT, WEIGHTED } from './settings-codec.ts'
import { at, EXTENSION, withAt } from './tree.ts'

/** A setting of the form: where it stands in each format, and what else changes with it. */
interface Setting {
  readonly name: string
  readonly kind: 'text' | 'url' | 'number' | 'switch' | 'list'
  readonly oas: string
  readonly classic?: string
  readonly oasAs?: Codec
  readonly classicAs?: Codec
  readonly when?: string
  readonly required?: boolean
  readonly unit?: string
  /** A classic switch that is on as long as the list holds something. */
  readonly classicSwitch?: string
}

export interface Section {
  readonly name: 'general' | 'upstream' | 'limits' | 'access' | 'cors' | 'traffic'
  readonly settings: readonly Setting[]
}

const cors = (name: string, kind: Setting['kind'], oas: string, classic: string): Setting => ({
  ...{ name, kind, oas: `middleware.global.cors.${oas}`, classic: `CORS.${classic}` },
  ...(name !== 'cors' && { when: 'cors' }),
})

export const SECTIONS: readonly Section[] = [
  {
    name: 'general',
    settings: [
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
        ...{ name: 'sharded', kind: 'switch', oas: 'server.gatewayTags.enabled' },
        ...{ classic: 'tags_disabled', classicAs: OPPOSITE },
      },
      { name: 'tags', kind: 'list', oas: 'server.gatewayTags.tags', classic: 'tags', when: 'sharded' },
    ],
  },
  {
    name: 'upstream',
    settings: [
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
    ],
  },
  {
    name: 'limits',
    settings: [
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
  {
    name: 'access',
    settings: [
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
    ],
  },
  {
    name: 'cors',
    settings: [
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
  {
    name: 'traffic',
    settings: [
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

const CODECS = { text: TEXT, url: TEXT, number: NUMBER, switch: SWITCH, list: LIST } as const

/** The settings of a section that a format has. */
function settingsOf(section: Section, isOas: boolean): readonly Setting[] {
  return section.settings.filter(({ classic }) => isOas || classic !== undefined)
}

function placeOf(setting: Setting, isOas: boolean): { readonly path: readonly string[]; readonly codec: Codec } {
  const own = isOas ? setting.oasAs : setting.classicAs
  const path = isOas ? [EXTENSION, ...setting.oas.split('.')] : setting.classic!.split('.')
  return { path, codec: own ?? CODECS[setting.kind] }
}

/** The fields of a section's form. */
export function fieldsOf(section: Section, isOas: boolean): readonly Field[] {
  return settingsOf(section, isOas).map(({ name, kind, when, required, unit }) => ({
    ...{ name, kind, label: say(`apiSet.${name}` as TextName), hint: say(`apiSet.${name}Hint` as TextName) },
    ...(required === true && { required }),
    ...(when !== undefined && { when: (all: FormValues) => all[when] === true }),
    ...(unit !== undefined && { unit }),
    ...(kind === 'number' && { min: 0 }),
  }))
}

/** What a definition says about the settings of all sections. */
export function valuesOf(definition: Definition, isOas: boolean): FormValues {
  const values: FormValues = {}
  for (const section of SECTIONS)
    for (const setting of settingsOf(section, isOas)) {
      const { path, codec } = placeOf(setting, isOas)
      values[setting.name] = codec.read(at(definition, path))
    }
  return values
}

/** The definition with what differs in the form; nothing else in it is touched. */
export function withValues(definition: Definition, isOas: boolean, values: FormValues): Definition {
  const before = valuesOf(definition, isOas)
  let changed = definition
  for (const section of SECTIONS)
    for (const setting of settingsOf(section, isOas)) {
      const value = values[setting.name]
      if (value === undefined || sameValue(value, before[setting.name]!)) continue
      const { path, codec } = placeOf(setting, isOas)
      changed = withAt(changed, path, codec.write(value))
      if (!isOas && setting.classicSwitch !== undefined && Array.isArray(value))
        changed = withAt(changed, [setting.classicSwitch], value.length > 0)
    }
  return changed
}

function sameValue(a: FormValue, b: FormValue): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return a === b
  return a.length === b.length && a.every((entry, index) => entry === b[index])
}
